import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { leaveDraft, takeDraft } from './explorer-draft.ts';

const draft = { query: '{ me { name } }', variables: { secret: 'x' } };
let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.useFakeTimers();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('a draft can be read once', () => {
  leaveDraft(draft);
  expect(takeDraft()).toMatchObject(draft);
  expect(takeDraft()).toBeUndefined();
});

it('an unread draft is removed from storage a minute after it was stored', () => {
  leaveDraft({ query: '{ projects }', variables: {} });
  vi.advanceTimersByTime(59_000);
  leaveDraft(draft);
  vi.advanceTimersByTime(59_000);
  expect([...kept.values()].join()).toContain('secret');
  vi.advanceTimersByTime(1000);
  expect([...kept.values()].join()).not.toContain('secret');
});
