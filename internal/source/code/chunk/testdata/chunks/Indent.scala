package example

trait Greeter:
  def greet(name: String): String

class Polite(title: String) extends Greeter:
  val prefix = "Dear"

  def greet(name: String): String =
    if name.isEmpty then
      "Hello"
    else
      s"$prefix ${title} $name"
  end greet

  private def twice(x: Int) = x * 2

object Main:
  @main def run(): Unit =
    println(Polite("Ms").greet("Ada"))

enum Color(val rgb: Int):
  case Red extends Color(0xFF0000)
  case Green extends Color(0x00FF00)

given intOrd: Ordering[Int] with
  def compare(x: Int, y: Int) = x - y

extension (s: String)
  def shout: String = s.toUpperCase

def top(x: Int) = x
