import { afterEach, describe, expect, it, vi } from 'vitest';
import { part, prefetch, queryClient } from './api.ts';
import type { Operation } from './generated/operations.ts';

const First = 'query First($id:ID!){first(id:$id)}' as Operation<{ first: string }, { id: string }>;
const Second = 'query Second{second}' as Operation<{ second: string }, object>;
const Both = 'query Both($id:ID!){first(id:$id)second}' as Operation<{ first: string; second: string }, { id: string }>;
const variables = { id: '1' };
const parts = [part(First, variables), part(Second, {})];

const sent: string[] = [];
/** A server that responds by the name of the query; absent names fail. */
function serve(answers: Record<string, object>): void {
  vi.stubGlobal('fetch', async (_path: string, { body }: { body: string }) => {
    const name = /^query (\w+)/.exec(JSON.parse(body).query)?.[1] as string;
    sent.push(name);
    const errors = [{ message: 'no', extensions: { code: 'forbidden' } }];
    return Response.json(answers[name] ? { data: answers[name] } : { errors });
  });
}
const data = () => parts.map((queryKey) => queryClient.getQueryData(queryKey));

afterEach(() => {
  queryClient.clear();
  sent.length = 0;
  vi.unstubAllGlobals();
});

describe('prefetch', () => {
  it('loads several queries in one request', async () => {
    serve({ Both: { first: 'a', second: 'b' } });
    await prefetch(Both, variables, parts);
    expect(sent).toEqual(['Both']);
    expect(data()).toEqual([expect.objectContaining({ first: 'a' }), expect.objectContaining({ second: 'b' })]);
  });

  it('sends each part alone if the joint request fails', async () => {
    serve({ First: { first: 'a' } });
    await prefetch(Both, variables, parts);
    expect(sent.sort()).toEqual(['Both', 'First', 'Second']);
    expect(data()).toEqual([{ first: 'a' }, undefined]);
  });

  it('sends nothing for cached parts, and leaves a single missing one to its own query', async () => {
    serve({ Both: { first: 'a', second: 'b' } });
    queryClient.setQueryData(parts[0]!, { first: 'cached' });
    await prefetch(Both, variables, parts);
    expect(sent).toEqual([]);
  });

  it('sends nothing for parts in flight: React may start a render again', async () => {
    serve({ Both: { first: 'a', second: 'b' } });
    await Promise.all([prefetch(Both, variables, parts), prefetch(Both, variables, parts)]);
    expect(sent).toEqual(['Both']);
  });

  it('refetches a part by its own query, not by the joint response', async () => {
    serve({ Both: { first: 'old', second: 'b' }, First: { first: 'new' } });
    await prefetch(Both, variables, parts);
    await queryClient.refetchQueries({ queryKey: parts[0]! });
    expect(sent).toEqual(['Both', 'First']);
    expect(data()[0]).toEqual({ first: 'new' });
  });
});
