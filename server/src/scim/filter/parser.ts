import { parseInstant } from '../../domain/kernel/instant.ts';
import { isStorableText } from '../../domain/kernel/secret.ts';
import { type Attribute, attributeNamed, defaultSubAttribute, elementValue, isHidden } from '../schema/attribute.ts';
import { type AttributeTarget, type ResourceType, resolve } from '../schema/resource-type.ts';
import { badRequest } from '../scim-error.ts';
import {
  type Comparison,
  comparisons,
  type ElementFilter,
  type Filter,
  type Literal,
  type Path,
  type ResourceFilter,
} from './ast.ts';
import { FilterFault, type Token, tokenize } from './lexer.ts';

/** Maximum length of a filter or path, in UTF-16 units. */
const maxLength = 32_768;
/** Maximum nesting of parentheses, `not` and brackets. */
const maxDepth = 50;
/** Maximum comparisons of a filter. */
const maxTerms = 500;

/** Parses a filter (RFC 7644 §3.4.2.2). Throws `invalidFilter`. */
export function parseFilter(type: ResourceType, text: string): ResourceFilter {
  return inWords('invalidFilter', text, (tokens) => {
    const parser = new Parser(tokens);
    const filter = parser.expression((name, at) => {
      const target = resolve(type, name);
      if (target?.kind === 'attribute' && !isHidden(target.attribute)) return target;
      throw new FilterFault(`${type.name} has no attribute ${quote(name)}`, at);
    }, resourceRules);
    parser.expectEnd();
    return filter;
  });
}

/** Parses a PATCH path (RFC 7644 §3.5.2). Throws `invalidPath`, or `invalidFilter` for the filter in its brackets. */
export function parsePath(type: ResourceType, text: string): Path {
  return inWords('invalidPath', text, (tokens) => {
    const parser = new Parser(tokens);
    const name = parser.word('an attribute');
    const target = resolve(type, name.text);
    if (!target) throw new FilterFault(`${type.name} has no attribute ${quote(name.text)}`, name.at);
    if (target.kind !== 'attribute') {
      if (target.kind === 'schema') parser.expectEnd();
      return target;
    }
    if (isHidden(target.attribute) || !parser.next('[')) {
      parser.expectEnd();
      return { kind: 'attribute', target };
    }
    const filter = parser.pathFilter(target, name.at);
    const sub = parser.subAttribute(target);
    parser.expectEnd();
    return { kind: 'attribute', target: sub ? { ...target, sub } : target, ...(filter && { filter }) };
  });
}

function inWords<T>(scimType: 'invalidFilter' | 'invalidPath', text: string, read: (tokens: Token[]) => T): T {
  const what = scimType === 'invalidFilter' ? 'filter' : 'path';
  if (text.length > maxLength) throw badRequest(scimType, `The ${what} is longer than ${maxLength} characters.`);
  try {
    return read(tokenize(text));
  } catch (error) {
    if (!(error instanceof FilterFault)) throw error;
    throw badRequest(scimType, `The ${what} cannot be read: ${error.message}.`);
  }
}

/** Parsing rules for one kind of name: their brackets and values. */
interface Rules<Ref> {
  comparable(ref: Ref, at: number): { ref: Ref; attribute: Attribute };
  element?: (parser: Parser, ref: Ref, at: number) => Filter<Ref>;
}

const resourceRules: Rules<AttributeTarget> = {
  comparable(target, at) {
    const { attribute, sub } = target;
    if (sub) return { ref: target, attribute: sub };
    if (attribute.type !== 'complex') return { ref: target, attribute };
    const value = defaultSubAttribute(attribute);
    if (!value) throw new FilterFault(`${attribute.name} is complex: name one of its parts`, at);
    return { ref: { ...target, sub: value }, attribute: value };
  },
  element(parser, target, at) {
    const filter = parser.elementFilter(target, at);
    const sub = parser.subAttribute(target);
    if (!sub) return { kind: 'element', ref: target, filter };
    // Entra ID writes emails[type eq "work"].value eq "x".
    const rest = parser.comparison<Attribute>(sub, at, elementRules);
    return { kind: 'element', ref: target, filter: { kind: 'and', terms: [filter, rest] } };
  },
};

const elementRules: Rules<Attribute> = {
  comparable: (sub) => ({ ref: sub, attribute: sub }),
};

/** Stands for a part that the schema does not have; any value is compared with it. */
const unknownPart: Attribute = { name: '', type: 'complex', description: '' };

/** Recursive descent parser of RFC 7644's grammar, with limits on depth and comparisons. */
class Parser {
  private position = 0;
  private depth = 0;
  private terms = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  expression<Ref>(name: (text: string, at: number) => Ref, rules: Rules<Ref>): Filter<Ref> {
    return this.list('or', () => this.list('and', () => this.factor(name, rules)));
  }

  /** Parses the filter in the brackets after `target`; the opening bracket is already consumed. */
  elementFilter({ attribute, sub }: AttributeTarget, at: number): ElementFilter {
    const isPlain = attribute.read !== undefined;
    if (sub || !attribute.multiValued || (attribute.type !== 'complex' && !isPlain)) {
      throw new FilterFault(`${sub?.name ?? attribute.name} has no elements to filter`, at);
    }
    const parts = isPlain ? [elementValue(attribute)] : attribute.subAttributes;
    return this.bracket((text, position) => {
      const found = attributeNamed(parts, text);
      if (found) return found;
      throw new FilterFault(`${attribute.name} has no part ${quote(text)}`, position);
    });
  }

  /**
   * Like {@link elementFilter}, in a path, where clients also filter attributes without elements. Undefined if the filter
   * names a part that the attribute does not have.
   */
  pathFilter(target: AttributeTarget, at: number): ElementFilter | undefined {
    const { attribute, sub } = target;
    const isComplex = attribute.type === 'complex';
    if (sub || (attribute.multiValued && isComplex)) return this.elementFilter(target, at);
    const parts = isComplex ? attribute.subAttributes : [elementValue(attribute)];
    let isMeaningful = true;
    const filter = this.bracket((text) => {
      const found = attributeNamed(parts, text);
      isMeaningful &&= found !== undefined;
      return found ?? unknownPart;
    });
    return isMeaningful ? filter : undefined;
  }

  private bracket(name: (text: string, at: number) => Attribute): ElementFilter {
    const filter = this.nested(() => this.expression<Attribute>(name, elementRules));
    this.expect(']');
    return filter;
  }

  /** Parses `.sub` directly after a bracket. A value without parts is its own `value`. */
  subAttribute({ attribute }: AttributeTarget): Attribute | undefined {
    const token = this.peek();
    if (token.kind !== 'word' || !token.text.startsWith('.')) return undefined;
    this.position += 1;
    if (attribute.type !== 'complex' && token.text.toLowerCase() === '.value') return undefined;
    const sub = attributeNamed(attribute.subAttributes, token.text.slice(1));
    if (!sub) throw new FilterFault(`${attribute.name} has no part ${quote(token.text.slice(1))}`, token.at);
    return sub;
  }

  comparison<Ref>(ref: Ref, at: number, rules: Rules<Ref>): Filter<Ref> {
    const operator = this.word('an operator');
    const name = operator.text.toLowerCase();
    if (name === 'pr') return { kind: 'present', ref };
    const comparison = comparisons.find((each) => each === name);
    if (!comparison) throw new FilterFault(`${quote(operator.text)} is not an operator`, operator.at);
    const valueAt = this.peek().at;
    const value = this.literal();
    if (value === null) return this.comparisonWithNull(ref, comparison, valueAt);
    const comparable = rules.comparable(ref, at);
    return {
      kind: 'compare',
      ref: comparable.ref,
      comparison,
      value: fitting(comparable.attribute, comparison, value, valueAt),
    };
  }

  word(what: string): { text: string; at: number } {
    const token = this.peek();
    if (token.kind !== 'word') throw new FilterFault(`Expected ${what}`, token.at);
    this.position += 1;
    return token;
  }

  /** Consumes the next token if it is of this kind. */
  next(kind: Token['kind']): boolean {
    const found = this.peek().kind === kind;
    if (found) this.position += 1;
    return found;
  }

  expectEnd(): void {
    const token = this.peek();
    if (token.kind !== 'end') throw new FilterFault('Expected the end', token.at);
  }

  private factor<Ref>(name: (text: string, at: number) => Ref, rules: Rules<Ref>): Filter<Ref> {
    if (this.next('(')) {
      const filter = this.nested(() => this.expression(name, rules));
      this.expect(')');
      return filter;
    }
    const { text, at } = this.word('an attribute');
    if (text.toLowerCase() === 'not' && this.next('(')) {
      const term = this.nested(() => this.expression(name, rules));
      this.expect(')');
      return { kind: 'not', term };
    }
    this.terms += 1;
    if (this.terms > maxTerms) throw new FilterFault(`More than ${maxTerms} comparisons`, at);
    const ref = name(text, at);
    if (rules.element && this.next('[')) return rules.element(this, ref, at);
    return this.comparison(ref, at, rules);
  }

  private list<Ref>(kind: 'and' | 'or', term: () => Filter<Ref>): Filter<Ref> {
    const first = term();
    if (!this.nextWord(kind)) return first;
    const terms = [first];
    do terms.push(term());
    while (this.nextWord(kind));
    return { kind, terms };
  }

  private nextWord(text: string): boolean {
    const token = this.peek();
    const found = token.kind === 'word' && token.text.toLowerCase() === text;
    if (found) this.position += 1;
    return found;
  }

  private literal(): Literal {
    const token = this.peek();
    this.position += 1;
    if (token.kind === 'string') {
      if (!isStorableText(token.value))
        throw new FilterFault('The text contains NUL or an unpaired surrogate', token.at);
      return token.value;
    }
    if (token.kind !== 'word') throw new FilterFault('Expected a value in quotes', token.at);
    const lower = token.text.toLowerCase();
    if (lower === 'true') return true;
    if (lower === 'false') return false;
    if (lower === 'null') return null;
    if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(token.text)) return Number(token.text);
    throw new FilterFault(`Expected a value; text must be in double quotes`, token.at);
  }

  /** `eq null` is "not present", `ne null` is "present". */
  private comparisonWithNull<Ref>(ref: Ref, comparison: Comparison, at: number): Filter<Ref> {
    if (comparison === 'ne') return { kind: 'present', ref };
    if (comparison === 'eq') return { kind: 'not', term: { kind: 'present', ref } };
    throw new FilterFault('null can only be equal or not equal', at);
  }

  private nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > maxDepth) throw new FilterFault(`Nested deeper than ${maxDepth}`, this.peek().at);
    const result = read();
    this.depth -= 1;
    return result;
  }

  private expect(kind: ')' | ']'): void {
    const { at } = this.peek();
    if (!this.next(kind)) throw new FilterFault(`Expected ${kind}`, at);
  }

  private peek(): Token {
    return this.tokens[this.position] ?? (this.tokens.at(-1) as Token);
  }
}

/** Converts the value to the attribute's type. */
function fitting(attribute: Attribute, comparison: Comparison, value: Exclude<Literal, null>, at: number): Literal {
  const orders = ['gt', 'ge', 'lt', 'le'].includes(comparison);
  if (attribute === unknownPart) return value;
  if (attribute.type === 'boolean') {
    if (comparison !== 'eq' && comparison !== 'ne') {
      throw new FilterFault(`${attribute.name} is true or false: only eq and ne compare it`, at);
    }
    const flag = typeof value === 'string' ? ({ true: true, false: false } as const)[value.toLowerCase()] : value;
    if (typeof flag !== 'boolean') throw new FilterFault(`${attribute.name} is true or false`, at);
    return flag;
  }
  if (attribute.type === 'integer' || attribute.type === 'decimal')
    return fittingNumber(attribute, comparison, value, at);
  if (typeof value !== 'string') throw new FilterFault(`${attribute.name} is text: put the value in quotes`, at);
  if (attribute.type === 'binary' && orders) throw new FilterFault(`${attribute.name} has no order`, at);
  const comparesAsText = comparison === 'co' || comparison === 'sw' || comparison === 'ew';
  if (attribute.type === 'dateTime' && !comparesAsText && parseInstant(value) === undefined) {
    throw new FilterFault(`${attribute.name} is a time such as 2026-01-31T12:00:00Z`, at);
  }
  return value;
}

function fittingNumber({ name }: Attribute, comparison: Comparison, value: Literal, at: number): number {
  if (comparison === 'co' || comparison === 'sw' || comparison === 'ew') {
    throw new FilterFault(`${name} is a number: ${comparison} compares text`, at);
  }
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) throw new FilterFault(`${name} is a number`, at);
  return number;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
