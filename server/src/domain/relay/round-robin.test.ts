import { describe, expect, it } from 'vitest';
import { type Lane, RoundRobin, type Waiting } from './round-robin.ts';

const lanes: readonly Lane[] = [
  { name: 'first', atOnce: 6, ofProject: 4, ofReceiver: 2 },
  { name: 'slow', atOnce: 3, ofProject: 2, ofReceiver: 2 },
];
const at = (project: string, receiver = '', lane = 0): Waiting => ({ lane, project, receiver });

/** Plans and begins: what a relay does if every pick is claimed. */
function turn(turns: RoundRobin, waiting: readonly Waiting[]): string[] {
  return turns.plan(waiting).flatMap((pick) =>
    Array.from({ length: pick.count }, () => {
      turns.begin(pick);
      return `${pick.project}${pick.receiver}`;
    }),
  );
}

describe('turns', () => {
  it('give projects the same share, and one project never all places', () => {
    const turns = new RoundRobin(lanes);
    expect(turn(turns, [at('a', '1'), at('a', '2'), at('b', '1'), at('b', '2')]).sort()).toEqual(
      ['a1', 'a1', 'a2', 'b1', 'b1', 'b2'].sort(),
    );
    expect(turn(new RoundRobin(lanes), [at('a', '1'), at('a', '2'), at('a', '3')])).toHaveLength(4);
  });

  it('give a receiver of a project that hangs its limit, and the others of the project the rest', () => {
    const turns = new RoundRobin(lanes);
    expect(turn(turns, [at('a', '1')])).toEqual(['a1', 'a1']);
    expect(turn(turns, [at('a', '1'), at('a', '2')])).toEqual(['a2', 'a2']);
    expect(turn(turns, [at('a', '1'), at('a', '3')])).toEqual([]);
    expect(turn(turns, [at('a', '1'), at('b', '1')])).toEqual(['b1', 'b1']);
  });

  it('come first to the project whose last turn is longest ago', () => {
    const turns = new RoundRobin([{ name: 'one', atOnce: 1, ofProject: 1, ofReceiver: 1 }]);
    const order: string[] = [];
    for (let n = 0; n < 9; n += 1) {
      const all = [at('a'), at('b'), at('c')];
      const [next] = turn(turns, n < 2 ? all.slice(0, 2) : all);
      order.push(next as string);
      turns.end(at(next as string));
    }
    expect(order.join('')).toBe('abcabcabc');
  });

  it('of a lane do not depend on another', () => {
    const turns = new RoundRobin(lanes);
    for (const project of ['a', 'b', 'c']) turn(turns, [at(project, '1')]);
    expect(turn(turns, [at('d', '1')])).toEqual([]);
    expect(turn(turns, [at('d', '1', 1)])).toEqual(['d1', 'd1']);
  });

  it('leave the place of a slow delivery to others, as long as the slow lane has room', () => {
    const turns = new RoundRobin(lanes);
    const [slow, other] = [at('a', '1'), at('a', '2')];
    turn(turns, [slow, other]);
    expect(turn(turns, [at('a', '3')])).toEqual([]);
    const moved = [slow, slow, other].map((one) => turns.move(one, 1));
    expect(moved.map(({ lane }) => lane)).toEqual([1, 1, 0]);
    expect(turn(turns, [at('a', '3'), at('a', '1')])).toEqual(['a3', 'a3']);
    for (const one of moved) turns.end(one);
    expect(turn(turns, [at('b', '1', 1)])).toEqual(['b1', 'b1']);
  });
});
