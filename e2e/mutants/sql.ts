import type { Edit } from './edit.ts';

/**
 * Mutations of SQL text. A condition is neutralized, not removed: `(true or (…))` keeps its parameters, so that the
 * statement stays valid.
 *
 * @param text content between the quotes, including `${…}`
 * @param holes positions of each `${…}`
 */
export function sqlEdits(text: string, holes: readonly (readonly [number, number])[]): Edit[] {
  const tokens = tokenize(text, holes);
  const edits = [
    ...conditions(tokens, text),
    ...assignments(tokens, text),
    ...tokens.flatMap((token, index) => words(tokens, index, token, text)),
  ];
  const seen = new Set<string>();
  return edits.filter((edit) => {
    const key = `${edit.start}:${edit.end}:${edit.text}`;
    return !seen.has(key) && seen.add(key);
  });
}

const statement =
  /\b(select|update|insert into|delete from|exists)\b[\s\S]*[(=?]|\bis (not )?null\b|\bselect [\w.*]+(, [\w.*]+)* from\b|^\s*(and|where) /;

/** Whether the text is SQL, or a part of it. */
export function looksLikeSql(text: string): boolean {
  return statement.test(text) && /\s/.test(text.trim());
}

interface Token {
  kind: 'word' | 'number' | 'string' | 'hole' | 'symbol';
  /** In lower case. */
  text: string;
  start: number;
  end: number;
  /** Open parentheses and `case`s. An opening or closing token has the depth outside it. */
  depth: number;
}

function tokenize(text: string, holes: readonly (readonly [number, number])[]): Token[] {
  const tokens: Token[] = [];
  const pattern = /'(?:[^']|'')*'|[a-z_][\w.]*|\d[\d_.]*|<>|<=|>=|->>?|@>|<@|::|=>|\|\||\S/giy;
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const hole = holes.find(([start]) => start === at);
    if (hole) {
      tokens.push({ kind: 'hole', text: '', start: hole[0], end: hole[1], depth });
      at = hole[1];
      continue;
    }
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) {
      at += 1;
      continue;
    }
    const reach = holes.find(([start]) => start > at && start < at + found.length)?.[0];
    const end = reach ?? at + found.length;
    const word = text.slice(at, end).toLowerCase();
    if (word === ')' || word === 'end') depth -= 1;
    const kind = /^[a-z_]/.test(word)
      ? 'word'
      : /^\d/.test(word)
        ? 'number'
        : word.startsWith("'")
          ? 'string'
          : 'symbol';
    tokens.push({ kind, text: word, start: at, end, depth });
    if (word === '(' || word === 'case') depth += 1;
    at = end;
  }
  return tokens;
}

const begins = new Set(['where', 'on', 'having', 'when', 'and', 'or']);
const ends = new Set(
  'and or where on when then else order group limit offset returning union having for left right inner cross join window set fetch from'.split(
    ' ',
  ),
);

/** Tokens of the condition after token `from`; undefined if there is none. */
function operandAfter(tokens: readonly Token[], from: number): { first: number; last: number } | undefined {
  const depth = tokens[from]?.depth ?? 0;
  let last = from;
  let isBetween = false;
  for (let index = from + 1; index < tokens.length; index += 1) {
    const token = tokens[index] as Token;
    if (token.depth < depth) break;
    if (token.depth === depth) {
      if (token.text === ')' && tokens[index - 1]?.depth === depth && !isClosing(tokens, index, from)) break;
      if (token.text === ',') break;
      if (token.text === 'between') isBetween = true;
      else if (token.text === 'and' && isBetween) isBetween = false;
      else if (isEnd(tokens, index)) break;
      if (token.kind === 'hole' && last > from && isOperandEnd(tokens[last] as Token)) break;
    }
    last = index;
  }
  return last > from ? { first: from + 1, last } : undefined;
}

/** `is distinct from` is not a clause. */
function isEnd(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index] as Token;
  return token.kind === 'word' && ends.has(token.text) && tokens[index - 1]?.text !== 'distinct';
}

/** Whether the parenthesis that token `index` closes was opened after token `from`. */
function isClosing(tokens: readonly Token[], index: number, from: number): boolean {
  const depth = (tokens[index] as Token).depth;
  for (let at = index - 1; at > from; at -= 1) {
    if (tokens[at]?.depth === depth && tokens[at]?.text === '(') return true;
  }
  return false;
}

function isOperandEnd(token: Token): boolean {
  if (token.kind === 'symbol') return token.text === ')' || token.text === '?';
  return token.kind !== 'word' || !['and', 'or', 'not', 'is', 'in', 'from', 'exists'].includes(token.text);
}

function conditions(tokens: readonly Token[], text: string): Edit[] {
  return tokens.flatMap((token, index) => {
    const isStart = token.kind === 'word' && begins.has(token.text) && !isBetweenAnd(tokens, index);
    // First condition in parentheses: `(a or b)`.
    const isOpening = token.text === '(' && hasConjunction(tokens, index);
    if (!isStart && !isOpening) return [];
    if (token.text === 'on' && tokens[index + 1]?.text === 'conflict') return [];
    const operand = operandAfter(isOpening ? opened(tokens, index) : tokens, index);
    if (!operand) return [];
    const start = tokens[operand.first] as Token;
    const end = tokens[operand.last] as Token;
    const condition = text.slice(start.start, end.end);
    const next = tokens[operand.last + 1]?.text;
    const between = token.text === 'or' || (token.text !== 'and' && next === 'or');
    if (condition === 'true' || condition === 'false') return [];
    const values = token.text === 'when' ? [true, false] : [!between || (token.text === 'or' && next === 'and')];
    return values.map((value) => ({
      operator: value ? 'sql-true' : 'sql-false',
      start: start.start,
      end: end.end,
      text: value ? `(true or (${condition}))` : `(false and (${condition}))`,
    }));
  });
}

/** The same tokens, with the parenthesis at its content's depth. */
function opened(tokens: readonly Token[], index: number): Token[] {
  return tokens.map((token, at) => (at === index ? { ...token, depth: token.depth + 1 } : token));
}

function hasConjunction(tokens: readonly Token[], index: number): boolean {
  const depth = (tokens[index] as Token).depth;
  if (tokens[index + 1]?.text === 'select') return false;
  for (let at = index + 1; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (token.depth === depth) return false;
    if (token.depth === depth + 1 && (token.text === 'select' || token.text === 'update')) return false;
    if (token.depth === depth + 1 && (token.text === 'and' || token.text === 'or')) return true;
  }
  return false;
}

function isBetweenAnd(tokens: readonly Token[], index: number): boolean {
  const { text, depth } = tokens[index] as Token;
  if (text !== 'and') return false;
  for (let at = index - 1; at >= 0; at -= 1) {
    const token = tokens[at] as Token;
    if (token.depth < depth) return false;
    if (token.depth !== depth) continue;
    if (token.text === 'between') return true;
    if (begins.has(token.text) || ends.has(token.text)) return false;
  }
  return false;
}

/** `set a = …` of an update: keeps the column's value. */
function assignments(tokens: readonly Token[], text: string): Edit[] {
  return tokens.flatMap((token, index) => {
    const table = token.text === 'set' && token.kind === 'word' ? updated(tokens, index) : undefined;
    if (table === undefined) return [];
    const edits: Edit[] = [];
    let at = index + 1;
    while (tokens[at]?.kind === 'word' && tokens[at + 1]?.text === '=') {
      let last = at + 1;
      while (last + 1 < tokens.length) {
        const next = tokens[last + 1] as Token;
        if (next.depth < token.depth || (next.text === ')' && next.depth === token.depth - 1)) break;
        if (next.depth === token.depth && (next.text === ',' || isEnd(tokens, last + 1))) break;
        if (next.depth === token.depth && next.text === ')' && !isClosing(tokens, last + 1, at)) break;
        last += 1;
      }
      const [start, end] = [(tokens[at + 2] as Token | undefined)?.start, (tokens[last] as Token).end];
      if (start === undefined || last < at + 2) break;
      const kept = `${table}.${(tokens[at] as Token).text}`;
      const value = `case when true then ${kept} else ${text.slice(start, end)} end`;
      edits.push({ operator: 'sql-set', start, end, text: value });
      if (tokens[last + 1]?.text !== ',') break;
      at = last + 2;
    }
    return edits;
  });
}

/** Qualifier of the updated columns: alias or name of the table. */
function updated(tokens: readonly Token[], set: number): string | undefined {
  const before = (back: number) => tokens[set - back];
  if (before(1)?.text === 'update' && before(2)?.text === 'do') {
    for (let at = set; at >= 0; at -= 1) {
      if (tokens[at]?.text === 'into' && tokens[at]?.depth === before(1)?.depth) return tokens[at + 1]?.text;
    }
    return undefined;
  }
  if (before(2)?.text === 'update') return before(1)?.text;
  if (before(3)?.text === 'update') return before(1)?.text;
  if (before(4)?.text === 'update' && before(2)?.text === 'as') return before(1)?.text;
  return undefined;
}

const swapped: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  least: 'greatest',
  greatest: 'least',
  min: 'max',
  max: 'min',
};

function words(tokens: readonly Token[], index: number, token: Token, text: string): Edit[] {
  const next = tokens[index + 1];
  const after = tokens[index + 2];
  const edit = (operator: string, end: number, by: string): Edit[] => [{ operator, start: token.start, end, text: by }];
  if (token.kind === 'symbol') {
    const by = swapped[token.text];
    return by ? edit('sql-boundary', token.end, by) : [];
  }
  if (token.kind === 'number') {
    // A value that only shows that a row exists.
    const isMark =
      tokens[index - 1]?.text === 'returning' || (tokens[index - 2]?.text === 'values' && next?.text === ')');
    return isMark ? [] : edit('sql-number', token.end, String(Number(token.text) + 1));
  }
  if (token.kind !== 'word') return [];
  if (swapped[token.text] && next?.text === '(') return edit('sql-extreme', token.end, swapped[token.text] as string);
  if (token.text === 'is' && next?.text === 'null') return edit('sql-null', next.end, 'is not null');
  if (token.text === 'is' && next?.text === 'not' && after?.text === 'null') {
    return edit('sql-null', after.end, 'is null');
  }
  if (token.text === 'desc') return edit('sql-order', token.end, 'asc');
  if (token.text === 'asc') return edit('sql-order', token.end, 'desc');
  if (token.text === 'distinct' && next?.text !== 'from' && next?.text !== 'on') {
    return edit('sql-distinct', token.end, '');
  }
  if (token.text === 'left' && next?.text === 'join') return edit('sql-join', next.end, 'join');
  if (token.text === 'for' && isLock(tokens, index)) {
    let last = index;
    while (/^(for|no|key|update|share|of|skip|locked|nowait)$/.test(tokens[last]?.text ?? '')) {
      last += tokens[last]?.text === 'of' ? 2 : 1;
      while (tokens[last]?.text === ',') last += 2;
    }
    return edit('sql-lock', (tokens[last - 1] as Token).end, '');
  }
  return token.text === 'coalesce' && next?.text === '(' ? coalesced(tokens, index, text) : [];
}

function isLock(tokens: readonly Token[], index: number): boolean {
  return /^(update|share|no|key)$/.test(tokens[index + 1]?.text ?? '');
}

/** Replaces `coalesce(a, b)` by `a` or `b`, if the removed part has no parameters. */
function coalesced(tokens: readonly Token[], index: number, text: string): Edit[] {
  const open = tokens[index + 1] as Token;
  const rest = tokens.slice(index + 2);
  const close = rest.find((token) => token.text === ')' && token.depth === open.depth);
  const comma = rest.find((token) => token.text === ',' && token.depth === open.depth + 1);
  if (!close || !comma || comma.start > close.start) return [];
  const parts = [text.slice(open.end, comma.start), text.slice(comma.end, close.start).trim()];
  return parts.flatMap((part, at) => {
    const other = parts[1 - at] as string;
    if (other.includes('?') || other.includes('${')) return [];
    const start = (tokens[index] as Token).start;
    return [{ operator: 'sql-coalesce', start, end: close.end, text: `(${part})` }];
  });
}
