/* An NVRTC that hands the text back as machine code, behind its options. Texts with `#error` are refused. Each compilation
 * writes `compiled:` to the error output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { char *text; char *code; } program;

int nvrtcVersion(int *major, int *minor) { *major = 12; *minor = 9; return 0; }
int nvrtcGetNumSupportedArchs(int *n) { *n = 3; return 0; }
int nvrtcGetSupportedArchs(int *list) { list[0] = 80; list[1] = getenv("FAKE_OLD_NVRTC") ? 86 : 90; list[2] = 100; return 0; }
int nvrtcCreateProgram(program **out, const char *text, const char *name, int n, const char **h, const char **i) {
  (void)name; (void)n; (void)h; (void)i;
  *out = calloc(1, sizeof **out);
  (*out)->text = strdup(text);
  return 0;
}
int nvrtcCompileProgram(program *p, int count, const char **options) {
  if (strstr(p->text, "#error")) return 6;
  size_t bytes = strlen(p->text) + 16;
  for (int i = 0; i < count; i++) bytes += strlen(options[i]) + 1;
  p->code = calloc(1, bytes);
  strcat(p->code, "FAKE ");
  for (int i = 0; i < count; i++) { strcat(p->code, options[i]); strcat(p->code, " "); }
  strcat(p->code, p->text);
  fprintf(stderr, "compiled: %s\n", options[0]);
  return 0;
}
int nvrtcDestroyProgram(program **p) { free((*p)->text); free((*p)->code); free(*p); *p = 0; return 0; }
int nvrtcGetProgramLogSize(program *p, size_t *n) { (void)p; *n = 9; return 0; }
int nvrtcGetProgramLog(program *p, char *log) { (void)p; strcpy(log, "it said."); return 0; }
int nvrtcGetPTXSize(program *p, size_t *n) { *n = strlen(p->code) + 1; return 0; }
int nvrtcGetPTX(program *p, char *out) { strcpy(out, p->code); return 0; }
int nvrtcGetCUBINSize(program *p, size_t *n) { *n = strlen(p->code); return 0; }
int nvrtcGetCUBIN(program *p, char *out) { memcpy(out, p->code, strlen(p->code)); return 0; }
