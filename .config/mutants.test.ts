import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { instrument } from '../e2e/mutants/instrument.ts';
import { attempted, folders, parseAttempt, sample } from '../e2e/mutants/plan.ts';
import { hasTest, isExplained, ruleFor } from '../e2e/mutants/results.ts';
import { looksLikeSql, sqlEdits } from '../e2e/mutants/sql.ts';
import { activate, install, record } from '../e2e/mutants/switch.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-mutants-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('a killed mutant counts while its test has the same title, with or without placeholders', () => {
  const text = "it('is refused (once)', …); it.each(…)('is %s of %j, or nothing', …); it.each(…)('%s', …);";
  for (const title of ['is refused (once)', 'is one of [2], or nothing']) expect(hasTest(text, title)).toBe(true);
  for (const title of ['is refused', 'is one, or nothing', 'any other']) expect(hasTest(text, title)).toBe(false);
});

describe('SQL mutants', () => {
  const mutate = (text: string, holes: [number, number][] = []) =>
    sqlEdits(text, holes).map(({ start, end, text: by }) => text.slice(0, start) + by + text.slice(end));

  it('neutralize each condition, and keep its parameters', () => {
    expect(mutate('delete from t where a = ? and (b is null or c > ?)')).toEqual([
      'delete from t where (true or (a = ?)) and (b is null or c > ?)',
      'delete from t where a = ? and (true or ((b is null or c > ?)))',
      'delete from t where a = ? and ((false and (b is null)) or c > ?)',
      'delete from t where a = ? and (b is null or (false and (c > ?)))',
      'delete from t where a = ? and (b is not null or c > ?)',
      'delete from t where a = ? and (b is null or c >= ?)',
    ]);
  });

  it('treat a case, a between and a subquery as one condition', () => {
    const text = 'select from t where case when a then b else c end and d between ? and ? and exists (select from u)';
    expect(mutate(text)).toContain(
      text.replace('case when a then b else c end', '(true or (case when a then b else c end))'),
    );
    expect(mutate(text)).toContain(text.replace('d between ? and ?', '(true or (d between ? and ?))'));
    expect(mutate(text)).toContain(text.replace('exists (select from u)', '(true or (exists (select from u)))'));
  });

  it('keep a column unchanged, and remove a lock', () => {
    expect(mutate('update t set a = ?, b = f(c, 1) where id = ?')).toEqual(
      expect.arrayContaining([
        'update t set a = case when true then t.a else ? end, b = f(c, 1) where id = ?',
        'update t set a = ?, b = case when true then t.b else f(c, 1) end where id = ?',
      ]),
    );
    expect(mutate('select a from t where a for no key update of t, u')).toContain('select a from t where a ');
  });

  it('leave an interpolated clause unchanged', () => {
    const text = 'select from t where a = ? ${further} returning b';
    const hole: [number, number] = [text.indexOf('$'), text.indexOf('}') + 1];
    expect(mutate(text, [hole])).toContain('select from t where (true or (a = ?)) ${further} returning b');
  });

  it('leave a number unchanged if no code reads it', () => {
    expect(mutate('insert into t select from u where b = 1 returning 1')).toEqual([
      'insert into t select from u where (true or (b = 1)) returning 1',
      'insert into t select from u where b = 2 returning 1',
    ]);
    expect(mutate('select from (values (1)) one')).toEqual([]);
  });

  it('are not created from prose', () => {
    expect(looksLikeSql('select a country from the list')).toBe(false);
    expect(looksLikeSql('update t set a = ?')).toBe(true);
  });
});

describe('mutation tests', () => {
  const source = `
const limit: number = 3;
const [first] = [limit];
export const doubled = limit * 2;
export function isAllowed(tries: number, mayWait: boolean): boolean {
  if (tries < limit && !mayWait) return true;
  return false;
}
const tag = (strings: TemplateStringsArray, ...values: string[]) => ({ text: strings.join('?'), values });
export const tagged = (id: string) => tag\`select from t where id = \${id} and b\`;
export const lasts = ({ seconds = 30 }: { seconds?: number } = {}) => ({ seconds });
export const reversed = (text?: string) => text?.split('').reverse().join('');
export const where = (id: string) => \`select from t where id = ? and owner = '\${id}'\`;
`;

  it('run a module as the original until a mutant is active, then as that mutant, constants included', async () => {
    writeFileSync(join(folder, 'a.ts'), source);
    const { mutants, sources } = instrument(folder, ['a.ts']);
    writeFileSync(join(folder, 'b.ts'), sources.get('a.ts') as string);
    install();
    const module = (await import(pathToFileURL(join(folder, 'b.ts')).href)) as {
      doubled: number;
      isAllowed(tries: number, mayWait: boolean): boolean;
      where(id: string): string;
      lasts(options?: { seconds?: number }): { seconds: number };
      reversed(text?: string): string | undefined;
      tagged(id: string): { text: string; values: string[] };
    };
    const idOf = (before: string, after: string) =>
      mutants.find((mutant) => mutant.before === before && mutant.after === after)?.id as number;

    expect([module.doubled, module.isAllowed(2, false), module.isAllowed(3, false)]).toEqual([6, true, false]);
    expect([module.reversed(), module.reversed('ab')]).toEqual([undefined, 'ba']);
    activate(idOf('3', '4'));
    expect([module.doubled, module.isAllowed(3, false)]).toEqual([8, true]);
    activate(idOf('tries < limit && !mayWait', '(tries < limit)'));
    expect([module.doubled, module.isAllowed(2, true)]).toEqual([6, true]);
    activate(idOf('30', '31'));
    expect([module.lasts(), module.lasts({ seconds: 5 })]).toEqual([{ seconds: 31 }, { seconds: 5 }]);
    activate(idOf('id = ?', '(true or (id = ?))'));
    expect(module.where('x')).toBe("select from t where (true or (id = ?)) and owner = 'x'");
    expect(module.tagged('x')).toEqual({ text: 'select from t where id = ? and b', values: ['x'] });
    activate(idOf('id = ${id}', '(true or (id = ${id}))'));
    expect(module.tagged('x')).toEqual({ text: 'select from t where (true or (id = ?)) and b', values: ['x'] });
    activate(0);
    expect(module.where('x')).toBe("select from t where id = ? and owner = 'x'");

    const stop = record();
    module.isAllowed(1, true);
    const reached = stop();
    expect(reached.has(idOf('3', '4'))).toBe(true);
    expect(reached.has(idOf('limit * 2', 'limit / 2'))).toBe(false);
    expect(reached.has(idOf('id = ?', '(true or (id = ?))'))).toBe(false);
  });

  it('sample the same mutants when others are added', () => {
    const all = Array.from({ length: 20 }, (_, number) => ({ id: `m${number}` }));
    const drawn = sample(all, 5, 7).map(({ id }) => id);
    const more = sample([{ id: 'other' }, ...all], 5, 7).map(({ id }) => id);
    expect(more.filter((id) => !drawn.includes(id)).length).toBeLessThanOrEqual(1);
    expect(sample(all, 5, 8).map(({ id }) => id)).not.toEqual(drawn);
  });

  it('run only the requested tests', () => {
    const attempts = ['m a.test.ts > x > one', 'm b.test.ts', 'n b.test.ts > two'].map(parseAttempt);
    expect([...attempted(attempts)]).toEqual([
      [
        'm',
        [
          { file: 'a.test.ts', tests: 'x > one', milliseconds: 0 },
          { file: 'b.test.ts', tests: '', milliseconds: 0 },
        ],
      ],
      ['n', [{ file: 'b.test.ts', tests: 'two', milliseconds: 0 }]],
    ]);
    expect(() => parseAttempt('m')).toThrow('Not "ID FILE > TEST"');
  });

  it('match explanations of moved survivors', () => {
    const mutant = {
      id: 1,
      file: 'a.ts',
      line: 7,
      within: 'f',
      operator: 'operand',
      before: 'a &&\n  b',
      after: '(a)',
    };
    const explanation = { file: 'a.ts', within: 'f', before: 'a && b', after: '(a)', why: '…' };
    expect(isExplained(mutant, [explanation])).toBe(true);
    expect(isExplained({ ...mutant, after: '(b)' }, [explanation])).toBe(false);
  });

  it('explain a condition by rule if it repeats row-level security, and no other', () => {
    const mutant = { file: 'a.ts', line: 7, within: 'f', operator: 'sql-true', after: '' };
    const isByRule = (before: string) => ruleFor({ ...mutant, id: '1', before }) !== undefined;
    expect(isByRule('t.project_id = ${project.id}::uuid')).toBe(true);
    expect(isByRule('u.project_id = t.project_id')).toBe(true);
    expect(isByRule('m.user_project_id = ${project.id}')).toBe(false);
    expect(isByRule('t.project_id = ${project.id} or a')).toBe(false);
    expect(isByRule('u.id = t.user_id')).toBe(false);
  });
});

it('the mutated folders exist', () => {
  const source = join(import.meta.dirname, '../server/src');
  expect(folders.filter((folder) => !existsSync(join(source, folder)))).toEqual([]);
});
