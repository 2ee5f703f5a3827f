//! Pages that need nothing beside them: what reports have in common.

/// A text inside a page.
///
/// ```
/// assert_eq!(stratape_console::page::escaped("a < b"), "a &lt; b");
/// ```
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A whole page.
///
/// ```
/// let page = stratape_console::page::page("Title", "<h1>Title</h1>");
/// assert!(page.starts_with("<!doctype html>") && page.contains("<title>Title</title>"));
/// ```
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\n{body}</body></html>\n"
    )
}

/// Charts by `plotters` are dark on white also where the page is light on dark: their colours are chosen for it. Pictures of the library follow the page.
const STYLE: &str = "\
    :root{color-scheme:light dark}\
    body{font:16px/1.5 sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222;background:#fff}\
    .headline{font-size:20px;line-height:1.35;font-weight:600}.quiet{font-size:14px;color:#555}\
    .code{overflow-x:auto;font:13px/1.5 ui-monospace,monospace;border:1px solid #8886;border-radius:4px;padding:.5em 0}\
    .code ol{margin:0;padding:0;list-style:none;min-width:max-content}.code li{padding:0 1em 0 0;white-space:pre}\
    .code li>span{display:inline-block;width:3em;padding-right:1em;text-align:right;color:#888;user-select:none}\
    .code em{padding-left:2em;font-style:normal;color:#a03c00}.code li.noted{background:#e2703a1c}\
    table{border-collapse:collapse}td,th{padding:.3em .8em;text-align:right;border-bottom:1px solid #8886}\
    th[scope=row]{text-align:left;font-weight:normal}\
    svg{width:100%;height:auto;display:block}.narrow{display:none}\
    figure{margin:0}.chart{background:#fff;color:#222;border-radius:4px;padding-bottom:.5em}\
    .key{list-style:none;display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:0;padding:0 1em;font-size:14px}\
    .key span{display:inline-block;width:1.2em;height:.7em;margin-right:.4em}\
    .fields{display:flex;gap:1em;margin-top:1em}.fields figure{flex:1}\
    img{width:100%;image-rendering:pixelated}figcaption,.scale{font-size:14px;color:#555}\
    .scale span{display:inline-block;width:10em;height:.8em;border:1px solid #888;vertical-align:middle;\
    background:linear-gradient(90deg,#000,#bf0000 30%,#ff3300 40%,#ffcc00 70%,#ffff55 80%,#fff)}\
    @media(max-width:640px){.wide{display:none}.narrow{display:block}thead{display:none}\
    table,tbody,tr,th,td{display:block}th[scope=row]{font-weight:bold;padding:.8em 0 .2em}\
    td{display:flex;justify-content:space-between;padding:.2em 0}td::before{content:attr(data-head)}}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}figcaption,.scale,.quiet{color:#aaa}.code em{color:#f0a070}}";
