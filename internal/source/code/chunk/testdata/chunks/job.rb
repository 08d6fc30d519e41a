# frozen_string_literal: true
require "json"

module Jobs
  VERSION = "1.0"
  PATTERN = %r{^/a'"(.*)$}

  class Error < StandardError; end
  Point = Struct.new(:x, :y)

  # Runs.
  class Runner < Base
    include Enumerable
    attr_reader :name, :state
    attr_accessor :limit

    def initialize(name) = @name = name

    def self.build(opts = {})
      new(opts.fetch(:name) { "it's #{opts["x"]} {" })
    end

    class << self
      def registry; @registry ||= {}; end
    end

    def run!(*args, **kw, &block)
      text = <<~SQL.strip + <<-"TEXT"
        def fake
        end
      SQL
        class Fake
      TEXT
      return if args.empty?
      x = args.length / 2
      y = kw[:a] / 3
      args.each do |a|
        puts(a) unless a =~ /['"]/
      end
    end

    def ==(other) other.name == name end
    def empty?() true end

    private

    def secret; end
    private def helper(x)
      case x
      when 1 then :a
      else :b
      end
    end
  end
end

def top_level(a) a end

task :build do
  sh "make"
end
