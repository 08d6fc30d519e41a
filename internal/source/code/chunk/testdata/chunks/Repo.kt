package com.example

import java.io.File

const val LIMIT = 10
val <T> List<T>.second: T get() = this[1]
typealias Loader = suspend (String) -> ByteArray

/* outer /* inner { */ still a comment { */
sealed class Result<out T> {
    data class Ok<T>(val value: T) : Result<T>()
    object Empty : Result<Nothing>()
}

enum class Level(val n: Int) { LOW(1), HIGH(2); fun up() = n + 1 }

@Deprecated("use ${'$'}x")
class Repo @Inject constructor(
    private val dir: File,
    val name: String = "repo",
) : Closeable, Iterable<String> {
    private val cache by lazy { mutableMapOf<String, String>() }
    var size: Int = 0
        private set

    init {
        println("opened ${dir.name + "{" + name.map { "$it}" }}")
    }

    constructor(path: String) : this(File(path))

    override fun close() = cache.clear()

    suspend fun <T : Any> load(key: String, block: () -> T): T? =
        withContext(IO) {
            """
            { raw ${cache[key]} "quoted"
            """.trimIndent()
            block()
        }

    companion object {
        const val TAG = "repo"
        fun open(path: String): Repo = Repo(path)
    }
}

fun String.shout(): String = uppercase() + "!"
infix fun Int.plus2(x: Int) = this + x
