#include <map>

namespace {
constexpr int kLimit = 8;
int helper(int x) { return x; }
}

namespace app::data {

using Key = std::string;
class Node;

template <typename K, typename V = std::map<K, int>>
class EXPORT Tree final : public Base<K>, private Other {
 public:
  Tree() = default;
  explicit Tree(int n) : n_(n), text_(R"x(a " { )")x") {}
  ~Tree() override { clear(); }

  V& operator[](const K& k) { return map_[k]; }
  bool operator()(int a) const noexcept { return a > 0; }
  explicit operator bool() const { return true; }
  int size() const;

  struct Iterator { int i; int next() { return ++i; } };
  enum class Color : char { Red, Green };

 protected:
  virtual void clear() = 0;
  int n_ = 1'000'000;
  std::string text_;
};

template <typename K, typename V>
int Tree<K, V>::size() const
{
  auto f = [this](int x) { return x + n_; };
  return f(1);
}

template <>
auto make<int>(int n) -> Tree<int> { return Tree<int>(n); }

std::ostream& operator<<(std::ostream& o, const Node& n) { return o; }

}  // namespace app::data

extern "C" {
int app_open(const char* path) { return 0; }
}

TEST(TreeTest, Grows) {
  EXPECT_EQ(1, 1);
}

int main(int argc, char** argv) try { return 0; } catch (...) { return 1; }
