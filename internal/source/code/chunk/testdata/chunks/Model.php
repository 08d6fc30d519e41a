<?php
declare(strict_types=1);

namespace App\Models;

use App\Base;

const LIMIT = 10;
define('OLD_LIMIT', 5);

#[Attribute]
abstract class Model extends Base implements \JsonSerializable
{
    use HasEvents;

    public const TABLE = 'models';
    protected static array $cache = [];
    private ?string $name = null;

    public function __construct(private readonly int $id, protected $x = '{') {}

    abstract protected function load(int $id): ?static;

    public static function find(int|string $id): self
    {
        $sql = <<<SQL
            SELECT '{' FROM t WHERE id = {$id}
            SQL;
        return new static($sql);
    }

    final public function &jsonSerialize(): mixed { return $this->cache; }
}

interface Loads { public function all(): array; }
trait HasName { public function name() { return "it's"; } }
enum Suit: string { case Hearts = 'H'; public function label(): string { return $this->name; } }

function helper(callable $f, ...$rest) { return $f(fn($x) => $x * 2); }
