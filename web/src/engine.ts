// The C engine: operations of the one table, their parameters, charts. No formula lives in TypeScript.

export interface Reply {
  status: number;
  text: string;
}
export interface Row {
  type?: string;
  enum?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
  items?: Row;
  'x-unit'?: string;
}
export interface Operation {
  name: string;
  summary: string;
  about: string;
  parameters: { properties: Record<string, Row> };
  lists: Record<string, string>;
}
export interface Schema {
  operations: Operation[];
  lists: Record<string, string[]>;
}
export interface Failure {
  code: string;
  message: string;
  param: string | null;
}
export type Args = Record<string, unknown>;
export type Format = 'json' | 'text' | 'markdown' | 'html' | 'csv';

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  start(): number;
  in(bytes: number): number;
  out(): number;
  out_len(): number;
  schema(): number;
  speak(zh: number): void;
  call(opLen: number, argsLen: number, format: number, now: number): number;
  chart(kindLen: number, argsLen: number, now: number): number;
}

const FORMATS: Format[] = ['json', 'text', 'markdown', 'html', 'csv'];
const encoder = new TextEncoder();
const decoder = new TextDecoder();
let x: Exports;
let known: Schema;

// Inside the page (the single file) or beside it (a folder on a server).
async function packed(): Promise<Blob> {
  const inside = document.getElementById('engine')?.textContent;
  if (!inside) return (await fetch('engine.bin')).blob();
  const text = atob(inside);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Blob([bytes]);
}

export async function load(): Promise<void> {
  const blob = await packed();
  const plain = new Response(blob.stream().pipeThrough(new DecompressionStream('gzip')));
  const { instance } = await WebAssembly.instantiate(await plain.arrayBuffer(), {});
  x = instance.exports as unknown as Exports;
  x._initialize();
  if (x.start() !== 0) throw new Error(output());
  x.schema();
  known = JSON.parse(output()) as Schema;
}

/** The language of errors and findings. */
export const speak = (zh: boolean): void => x.speak(Number(zh));
export const schema = (): Schema => known;
export function operation(name: string): Operation {
  const op = known.operations.find((o) => o.name === name);
  if (!op) throw new Error(`no operation ${name}`);
  return op;
}

function output(): string {
  return decoder.decode(new Uint8Array(x.memory.buffer, x.out(), x.out_len()));
}

const TOO_MUCH: Failure = { code: 'too_large', message: 'more text than the page takes (20 MiB)', param: null };
function put(a: string, b: string): [number, number] | null {
  const first = encoder.encode(a);
  const second = encoder.encode(b);
  const at = x.in(first.length + second.length);
  if (!at) return null;
  const memory = new Uint8Array(x.memory.buffer);
  memory.set(first, at);
  memory.set(second, at + first.length);
  return [first.length, second.length];
}

export function call(op: string, args: Args, format: Format = 'json'): Reply {
  const given = put(op, JSON.stringify(args));
  if (!given) return { status: 3, text: JSON.stringify({ error: TOO_MUCH }) };
  const status = x.call(...given, FORMATS.indexOf(format), Date.now());
  return { status, text: output() };
}

/** The chart as SVG, or the reason why there is none. */
export function chart(kind: string, json: unknown): string | Failure {
  const given = put(kind, JSON.stringify(json));
  if (!given) return TOO_MUCH;
  const status = x.chart(...given, Date.now());
  return status === 0 ? output() : (JSON.parse(output()) as { error: Failure }).error;
}

/** The result, or what was wrong with the question. */
export function ask<T>(op: string, args: Args): { result: T; no: boolean } | { error: Failure } {
  const reply = call(op, args);
  const document = JSON.parse(reply.text);
  return reply.status > 1 ? { error: document.error } : { result: document, no: reply.status === 1 };
}
