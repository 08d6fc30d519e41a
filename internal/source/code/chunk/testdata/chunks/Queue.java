package com.example.queue;

import java.util.*;

/**
 * A queue. class Fake {
 */
@SuppressWarnings({"unchecked", "rawtypes"})
public abstract class Queue<T extends Comparable<T>> extends AbstractList<T>
        implements Iterable<T> {
    private static final String TEXT = """
        { "not": "code"
        """;
    protected int head, tail = 1;

    static {
        System.loadLibrary("x{");
    }

    public Queue(int size) { this.head = size; }

    @Override
    public <R> Map<String, List<R>> group(
            Function<T, R> by,
            int limit) throws IOException {
        char c = '{';
        return new HashMap<>() {{ put("a", null); }};
    }

    abstract T take() throws InterruptedException;

    private void data() {}

    enum State { OPEN, CLOSED { @Override boolean done() { return true; } }; boolean done() { return false; } }

    record Point(int x, int y) {
        Point { if (x < 0) throw new IllegalArgumentException(); }
    }

    interface Listener { void changed(Queue<?> q); }

    sealed interface Shape permits Circle {}
}

@interface Marker { String value() default ""; }
