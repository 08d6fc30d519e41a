import { readFile } from 'node:fs/promises'
import type { Item } from './item'

export const VERSION = '1.0'
export const { host, port } = readConfig()
const matcher = /[{"'`]\/(?<name>\w+)/g, ratio = 10 / 2 / 5
let counter = 0

export type Handler<T> = (event: T) => Promise<{ ok: boolean }>

export interface Store<K extends string, V = unknown> {
  size: number
  get(key: K): V | undefined
  set?(key: K, value: V): void
}

export enum Level {
  Low = 'low',
  High = 'high',
}

declare module 'express' {
  interface Request {
    user?: string
  }
}

export abstract class Base<T extends { id: string }> {
  protected readonly items = new Map<string, T>()
  static #count = 0
  private handler?: Handler<T>

  constructor(private readonly name: string) {
    this.handler = async (e) => ({ ok: `${e.id} {${`nested ${name}`}` !== '}' })
  }

  get total(): number {
    return this.items.size
  }

  abstract load(id: string): Promise<T>

  save = async (item: T): Promise<void> => {
    this.items.set(item.id, item)
  }

  @log({ level: 'info' })
  static async *stream<U>(
    source: AsyncIterable<U>,
    limit = 10,
  ): AsyncGenerator<U> {
    for await (const u of source) if (limit-- > 0) yield u
  }
}

export default class Memory extends Base<Item> {
  async load(id: string) { return this.items.get(id)! }
}

export const useStore = <T,>(key: string) => {
  const local = 1
  return { key, local }
}

export async function open(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  return text.replace(matcher, (m) => m.toUpperCase())
}

export const routes = {
  list() { return [] },
  remove: async (id: string) => { await open(id) },
  create: function (body: unknown) { return body },
  path: '/items',
}

namespace Util {
  export function clamp(n: number) { return n }
}

open('x').then(() => {
  const inside = 1
})
