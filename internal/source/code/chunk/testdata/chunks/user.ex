defmodule App.User do
  @moduledoc """
  def fake, do: 1
  """
  use Ecto.Schema
  @limit 10
  @type t :: %__MODULE__{}

  defstruct [:name]

  @doc "Finds #{"x"}."
  @spec find(integer) :: t
  def find(id) when is_integer(id) do
    Enum.map([1], fn x -> x end)
  end

  def find(_), do: nil
  defp secret(x), do: x
  defmacro check(x) do
    quote do: unquote(x)
  end
  defguard is_big(x) when x > 10
end

defprotocol App.Size do
  def size(x)
end

defimpl App.Size, for: List do
  def size(x), do: length(x)
end
