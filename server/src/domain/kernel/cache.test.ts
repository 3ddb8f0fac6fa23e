import { beforeEach, describe, expect, it } from 'vitest';
import { type AdjustableClock, adjustableClock } from '../../../test/clock.ts';
import { atFirstUse, Cache } from './cache.ts';

let clock: AdjustableClock;
let cache: Cache<string>;
let loads: string[];

const load = (value: string | null) => async () => {
  loads.push(String(value));
  return value;
};

beforeEach(() => {
  clock = adjustableClock();
  cache = new Cache<string>(clock, 60, 2);
  loads = [];
});

describe('a cache', () => {
  it('loads a value once, until it expires', async () => {
    expect(await cache.get('a', load('first'))).toBe('first');
    clock.turn(60);
    expect(await cache.get('a', load('second'))).toBe('first');
    clock.turn(0.001);
    expect(await cache.get('a', load('second'))).toBe('second');
  });

  it('loads again after the clock has gone back: its entries would live until it is that time', async () => {
    clock.turn(3600);
    await cache.get('a', load('ahead'));
    clock.turn(-3600);
    expect(await cache.get('a', load('now'))).toBe('now');
  });

  it('does not cache a missing value, nor a failed load', async () => {
    expect(await cache.get('a', load(null))).toBeNull();
    await expect(cache.get('a', () => Promise.reject(new Error('unavailable')))).rejects.toThrow('unavailable');
    expect(await cache.get('a', load('there'))).toBe('there');
  });

  it('loads again after invalidate of one key or of all', async () => {
    for (const key of ['a', 'b']) await cache.get(key, load('old'));
    cache.invalidate('a');
    expect(await cache.get('a', load('new'))).toBe('new');
    expect(await cache.get('b', load('new'))).toBe('old');
    cache.invalidate();
    expect(await cache.get('b', load('new'))).toBe('new');
  });

  it('shares one load between concurrent callers', async () => {
    expect(await Promise.all([cache.get('a', load('one')), cache.get('a', load('two'))])).toEqual(['one', 'one']);
    expect(loads).toEqual(['one']);
  });

  it.each([
    ['its key', () => cache.invalidate('a')],
    ['all keys', () => cache.invalidate()],
  ])('neither keeps nor shares a load that began before invalidate of %s', async (_, invalidate) => {
    const gate = Promise.withResolvers<string>();
    const early = cache.get('a', () => gate.promise);
    invalidate();
    expect(await cache.get('a', load('new'))).toBe('new');
    gate.resolve('old');
    expect(await early).toBe('old');
    expect(await cache.get('a', load('newer'))).toBe('new');
  });

  it('evicts the least recently used entry', async () => {
    for (const key of ['a', 'b', 'a', 'c']) await cache.get(key, load(key));
    expect(loads).toEqual(['a', 'b', 'c']);
    await cache.get('a', load('a'));
    await cache.get('b', load('b'));
    expect(loads).toEqual(['a', 'b', 'c', 'b']);
  });
});

describe('a value that is loaded at first use', () => {
  it('is loaded once', async () => {
    let count = 0;
    const value = atFirstUse(async () => (count += 1));
    expect(count).toBe(0);
    expect(await Promise.all([value(), value()])).toEqual([1, 1]);
    expect(await value()).toBe(1);
  });

  it('is loaded again after a failure', async () => {
    const answers = [Promise.reject(new Error('gone')), Promise.resolve('there')];
    const value = atFirstUse(async () => answers.shift());
    await expect(value()).rejects.toThrow('gone');
    expect(await value()).toBe('there');
  });
});
