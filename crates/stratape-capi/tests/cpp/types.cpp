// Elements of all sizes, alignments and kinds, in slabs and on disk, as users declare them.
#include <stratape/tape.hpp>

#include "check.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

template <std::size_t N, std::size_t A = 1>
struct alignas(A) Bytes {
    unsigned char data[N];
    static Bytes of(std::size_t i) {
        Bytes b;
        for (std::size_t k = 0; k < N; ++k) b.data[k] = static_cast<unsigned char>(i * 31 + k);
        return b;
    }
    bool is(std::size_t i) const {
        for (std::size_t k = 0; k < N; ++k)
            if (data[k] != static_cast<unsigned char>(i * 31 + k)) return false;
        return true;
    }
};

template <class Tape>
void fill_and_drain(Tape& tape, std::size_t count) {
    using T = typename Tape::value_type;
    for (std::size_t i = 0; i < count; ++i) {
        T& made = tape.emplace_back(T::of(i));
        CHECK(reinterpret_cast<std::uintptr_t>(&made) % alignof(T) == 0);
    }
    CHECK(tape.size() == count);
    for (std::size_t i = 0; i < count; i += count / 13 + 1) CHECK(tape[i].is(i));
    for (std::size_t i = count; i-- > 0;) {
        CHECK(tape.back().is(i));
        CHECK(tape.pop().is(i));
    }
    CHECK(tape.empty());
    CHECK_THROWS(STRATAPE_EMPTY, tape.pop());
    CHECK_THROWS(STRATAPE_EMPTY, tape.back());
    CHECK_THROWS(STRATAPE_EMPTY, tape.pop_back());
    CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[0]);
    tape.push(T::of(5)); // and it goes on
    CHECK(tape.pop().is(5));
}

template <std::size_t N, std::size_t A = 1>
void bytes() {
    stratape::tape<Bytes<N, A>> plain;
    fill_and_drain(plain, 3000);
    stratape::tape<Bytes<N, A>, 1, 1> small;
    fill_and_drain(small, 200);
    stratape::tape<Bytes<N, A>> layered(stratape::options().memory(64 << 10).slab_bytes(8 << 10).spill_to("."));
    fill_and_drain(layered, (256u << 10) / sizeof(Bytes<N, A>));
}

struct Point {
    double x, y;
    Point(double x, double y) : x(x), y(y) {}
};
struct Constant {
    const int value;
    explicit Constant(int value) : value(value) {}
};
struct Addressless {
    int value;
    Addressless* operator&() = delete;
};
union Either {
    int i;
    float f;
};
struct Base {
    virtual ~Base() = default;
    virtual int id() const { return 1; }
};
struct Derived : Base {
    int id() const override { return 2; }
};

template <class T, class Make>
void objects(std::size_t count, Make make) {
    stratape::tape<T, 3, 5> tape;
    for (std::size_t i = 0; i < count; ++i) tape.push(make(i));
    for (std::size_t i = 0; i < count; ++i) CHECK(tape[i] == make(i));
    for (std::size_t i = count; i-- > 0;) CHECK(tape.pop() == make(i));
}

int main() {
    bytes<3>();
    bytes<33, 64>();
    bytes<4096, 4096>();

    objects<std::string>(100, [](std::size_t i) { return std::string(i, 'x'); });
    objects<bool>(20000, [](std::size_t i) { return i % 3 == 0; });
    objects<void*>(20000, [](std::size_t i) { return reinterpret_cast<void*>(i); });
    {
        stratape::tape<std::unique_ptr<int>, 2, 2> tape;
        for (int i = 0; i < 50; ++i) tape.emplace_back(new int(i));
        for (int i = 50; i-- > 0;) {
            CHECK(*tape.back() == i);
            std::unique_ptr<int> p = tape.pop();
            CHECK(*p == i);
        }
    }
    {
        stratape::tape<std::unique_ptr<Base>> tape;
        tape.push(std::unique_ptr<Base>(new Derived));
        CHECK(tape[0]->id() == 2 && (*tape.begin())->id() == 2);
    }
    {
        stratape::tape<Point> tape; // no default constructor
        for (int i = 0; i < 1000; ++i) tape.emplace_back(i, -i);
        CHECK(tape.begin()->x == 0 && tape.rbegin()->y == -999);
        CHECK(tape.pop().x == 999);
        stratape::tape<Constant, 2> constant; // cannot be assigned
        for (int i = 0; i < 1000; ++i) constant.emplace_back(i);
        for (int i = 1000; i-- > 0;) CHECK(constant.pop().value == i);
        stratape::tape<Either> either;
        Either e;
        e.i = 7;
        either.push(e);
        CHECK(either.pop().i == 7);
        stratape::tape<Addressless> odd;
        odd.push(Addressless{3});
        CHECK(odd.back().value == 3 && odd[0].value == 3 && odd.pop().value == 3);
        stratape::tape<std::shared_ptr<int>, 1, 1> shared;
        auto p = std::make_shared<int>(4);
        for (int i = 0; i < 10; ++i) shared.push(p);
        CHECK(p.use_count() == 11);
        shared.truncate(4);
        CHECK(p.use_count() == 5);
        stratape::tape<std::shared_ptr<int>, 1, 1> other(std::move(shared));
        CHECK(p.use_count() == 5 && shared.empty() && other.size() == 4);
        other = stratape::tape<std::shared_ptr<int>, 1, 1>();
        CHECK(p.use_count() == 1);
    }
    { // large SBO and SLAB
        stratape::tape<int, 100000, 1000000> tape;
        for (int i = 0; i < 1300000; ++i) tape.push(i);
        for (int i = 1300000; i-- > 0;) CHECK(tape.pop() == i);
        stratape::tape<std::string, 1000, 100000> strings;
        for (int i = 0; i < 3000; ++i) strings.push(std::to_string(i));
        CHECK(strings[2999] == "2999" && strings[999] == "999" && strings[1000] == "1000");
    }
    { // a tape of tapes
        stratape::tape<stratape::tape<double>, 2, 2> tapes;
        for (int i = 0; i < 20; ++i) {
            tapes.emplace_back();
            for (int k = 0; k < 100; ++k) tapes.back().push(i + k);
        }
        for (int i = 20; i-- > 0;) CHECK(tapes.pop().pop() == i + 99);
        std::vector<stratape::tape<double>> several(3);
        several[1].push(4);
        several.resize(100);
        CHECK(several[1].pop() == 4);
        std::map<std::string, stratape::tape<std::string>> named;
        named["a"].push("b");
        CHECK(named["a"].pop() == "b");
    }
}
