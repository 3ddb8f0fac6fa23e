import { expect, it } from 'vitest';
import { type Answers, typeIn, typeOf } from './answers.ts';

const answers = (some: Partial<Answers>) => ({ kind: 'native', name: ' Shop ', ...some }) as Answers;

it('the address of the second step has the type or product, and the name', () => {
  for (const [some, type] of [
    [{}, 'native'],
    [{ product: { id: 'gitlab' } as Answers['product'] }, 'gitlab'],
  ] as const) {
    expect(typeOf(answers(some))).toEqual({ type, name: 'Shop' });
    expect(typeIn(new URLSearchParams(typeOf(answers(some))))).toEqual({ type, name: 'Shop' });
  }
});

it.each(['', 'type=native', 'name=Shop', 'type=native&name=', 'type=native&name=%20'])(
  'without both, %j is the first step',
  (text) => expect(typeIn(new URLSearchParams(text))).toBeUndefined(),
);
