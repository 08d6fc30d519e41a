import 'dart:math';

const limit = 10;
typedef Callback = void Function(int);

abstract class Shape<T extends num> with Named implements Comparable<Shape> {
  final T size;
  static const origin = Point(0, 0);
  late String text = 'a ${size > 1 ? '{' : "}"} b';

  const Shape(this.size);
  factory Shape.fromJson(Map<String, dynamic> json) {
    return Circle(json['r']);
  }

  double get area => size * 2;
  set name(String v) { _name = v; }
  Future<void> draw({required Canvas on, int times = 1}) async {
    await on.paint();
  }
  bool operator ==(Object other) => false;
  void paint();
}

mixin Named { String? _name; }
enum Color { red, green; String label() => name; }
extension Shout on String { String shout() => toUpperCase(); }

void main(List<String> args) => print('''
class Fake {
''');
