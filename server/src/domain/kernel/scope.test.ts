import { expect, it } from 'vitest';
import { currentScope, currentTurns, eachInScope, inScope, inTurns } from './scope.ts';

async function* scopes(): AsyncGenerator<string> {
  for (let n = 0; n < 2; n += 1) {
    yield currentScope();
    await Promise.resolve();
  }
}

it('a generator is read in its scope, regardless of the scope that requests its items', async () => {
  const items = eachInScope('project', scopes());
  expect(currentScope()).toBe('all');
  expect((await items.next()).value).toBe('project');
  expect((await inScope('none', () => items.next())).value).toBe('project');
  expect((await items.next()).done).toBe(true);
});

it('a generator that is left early is closed', async () => {
  let isClosed = false;
  async function* open(): AsyncGenerator<number> {
    try {
      yield 1;
      yield 2;
    } finally {
      isClosed = true;
    }
  }
  for await (const item of eachInScope('project', open())) if (item === 1) break;
  expect(isClosed).toBe(true);
});

it('a generator is read in the turns in which it was made', async () => {
  async function* turns() {
    for (;;) yield currentTurns();
  }
  const begin = async () => () => undefined;
  const items = inTurns(begin, () => eachInScope('project', turns()));
  expect((await items.next()).value).toBe(begin);
  const others = async () => () => undefined;
  expect((await inTurns(others, () => items.next())).value).toBe(begin);
});
