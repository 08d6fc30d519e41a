const std = @import("std");

pub const Limit: usize = 10;
var counter: u32 = 0;

pub const List = struct {
    items: []u8,

    pub const Error = error{Full};

    pub fn init(alloc: std.mem.Allocator) List {
        const text =
            \\ { "not code
        ;
        _ = text;
        return .{ .items = alloc };
    }

    fn push(self: *List, c: u8) Error!void {
        if (c == '{') return error.Full;
    }
};

const Kind = enum { a, b };

export fn add(a: i32, b: i32) i32 {
    return a + b;
}

pub inline fn max(comptime T: type, a: T) T {
    return a;
}

test "adds {" {
    try std.testing.expect(add(1, 2) == 3);
}
