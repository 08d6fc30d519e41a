package example

import scala.util.*

/* a /* nested { */ */
case class Node[A](value: A, left: Option[Node[A]] = None)
sealed trait Shape { def area: Double }
object Tree extends App {
  val Limit = 10
  lazy val text = s"${Limit + "}"} {"
  type Key = String
  implicit class Rich(val s: String) extends AnyVal { def shout = s + "!" }

  def insert[A](n: Node[A], v: A)(using ord: Ordering[A]): Node[A] = {
    val c = '{'
    n
  }

  private def size(n: Node[_]): Int = n match {
    case Node(_, Some(l)) => 1
    case _ => 0
  }
}
