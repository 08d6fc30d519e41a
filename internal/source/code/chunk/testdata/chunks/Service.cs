using System;
#region Types
namespace Example.Services;

public delegate void Changed(object sender, int n);

[Serializable, Obsolete("x{")]
public sealed partial class Service<T> : Base, IDisposable where T : class, new()
{
    private const string Path = @"c:\dir\";
    private readonly string _text = $"{Path} {{ }}";
    public event Changed OnChanged;

    public Service(int n) : base(n) { }

    public int Count { get; private set; } = 3;
    public string Name => _text;

    public T this[int i] { get { return null; } }

    [HttpGet("{id}")]
    public async Task<List<T>> LoadAsync(
        int id,
        CancellationToken ct = default)
    {
        var sql = @"SELECT ""a"" FROM { ";
        return await Task.FromResult(new List<T>());
    }

    public override string ToString() => $"{Name}";
    public static Service<T> operator +(Service<T> a, Service<T> b) => a;

#if DEBUG
    private void Trace() {
#else
    private void Trace(string s) {
#endif
        Console.WriteLine("}");
    }

    private enum Mode { On, Off }
    public record Point(int X, int Y);
    public interface IThing { void Do(); int Size { get; } }
}
#endregion
