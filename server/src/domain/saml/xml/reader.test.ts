import { describe, expect, test } from 'vitest';
import { canonical } from './canonical.ts';
import { read } from './reader.ts';

const reasonOf = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return (error as { reason?: string }).reason ?? String(error);
  }
  return 'accepted';
};

describe('the reader refuses, before it returns anything,', () => {
  const declaring = (at: number) => `<a${Array.from({ length: 30 }, (_, i) => ` xmlns:p${at}-${i}="u"`).join('')}>`;
  const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  test.each([
    ['a DTD', '<!DOCTYPE a><a/>', 'forbidden-markup'],
    ['an internal entity', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'forbidden-markup'],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'forbidden-markup'],
    [
      'a billion laughs',
      '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><a>&b;</a>',
      'forbidden-markup',
    ],
    ['an unknown entity', '<a>&nbsp;</a>', 'malformed'],
    ['an entity named as a member of objects', '<a>&constructor;</a>', 'malformed'],
    ['a comment', '<a>b<!-- c -->d</a>', 'forbidden-markup'],
    ['CDATA', '<a><![CDATA[b]]></a>', 'forbidden-markup'],
    ['a processing instruction', '<a><?php 1 ?></a>', 'forbidden-markup'],
    ['a style sheet', '<?xml version="1.0"?><?xml-stylesheet href="x"?><a/>', 'forbidden-markup'],
    ['another encoding', '<?xml version="1.0" encoding="UTF-7"?><a/>', 'forbidden-markup'],
    ['XML 1.1', '<?xml version="1.1"?><a/>', 'forbidden-markup'],
    ['10 MB', `<a>${'b'.repeat(10_000_000)}</a>`, 'too-large'],
    ['depth 10,000', nested(10_000), 'too-large'],
    ['10,000 attributes', `<a${Array.from({ length: 10_000 }, (_, i) => ` b${i}="c"`).join('')}/>`, 'too-large'],
    ['10,000 elements', `<a>${'<b/>'.repeat(10_000)}</a>`, 'too-large'],
    ['90 namespaces', `${[0, 1, 2].map(declaring).join('')}</a></a></a>`, 'too-large'],
    ['two documents', '<a/><b/>', 'malformed'],
    ['text after the document', '<a/>b', 'malformed'],
    ['an unclosed element', '<a><b></a>', 'malformed'],
    ['another end tag', '<a></b>', 'malformed'],
    ['an end tag of another prefix', '<p:a xmlns:p="x" xmlns:q="x"></q:a>', 'malformed'],
    ['an attribute given twice', '<a b="1" b="2"/>', 'malformed'],
    ['an attribute given twice by prefixes', '<a xmlns:p="x" xmlns:q="x" p:b="1" q:b="2"/>', 'malformed'],
    ['a namespace given twice', '<a xmlns:p="x" xmlns:p="y"/>', 'malformed'],
    ['an unknown prefix', '<p:a/>', 'malformed'],
    ['a prefix that is taken back', '<a xmlns:p="x"><b xmlns:p=""/></a>', 'malformed'],
    ['another meaning of xml', '<a xmlns:xml="x"/>', 'malformed'],
    ['a control character', '<a>\u0001</a>', 'malformed'],
    ['a control character by reference', '<a>&#1;</a>', 'malformed'],
    ['half of a surrogate pair by reference', '<a>&#xD800;</a>', 'malformed'],
    ['an attribute without quotes', '<a b=c/>', 'malformed'],
    ['< in an attribute', '<a b="<"/>', 'malformed'],
    ['nothing', '', 'malformed'],
    ['JSON', '{}', 'malformed'],
  ])('%s', (_, source, reason) => {
    expect(reasonOf(() => read(source))).toBe(reason);
  });

  test('bytes that are not UTF-8', () => {
    expect(reasonOf(() => read(Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e])))).toBe('malformed');
    expect(reasonOf(() => read(Buffer.from('<a/>', 'utf16le')))).toBe('malformed');
  });

  test('metadata may have comments between elements, but not in text', () => {
    expect(read('<!-- x --><a><!-- y --><b/></a><!-- z -->', { isMetadata: true }).name).toBe('a');
    expect(reasonOf(() => read('<a>b<!-- x -->c</a>', { isMetadata: true }))).toBe('forbidden-markup');
    expect(reasonOf(() => read('<!DOCTYPE a><a/>', { isMetadata: true }))).toBe('forbidden-markup');
    expect(reasonOf(() => read('<!--><!DOCTYPE a><a/>', { isMetadata: true }))).toBe('forbidden-markup');
  });
});

describe('exclusive canonicalization', () => {
  test.each([
    ['empty elements', '<a/>', '<a></a>'],
    [
      'order of attributes',
      '<a xmlns:p="urn:b" xmlns:q="urn:a" p:x="1" q:x="2" z="3" a="4"/>',
      '<a xmlns:p="urn:b" xmlns:q="urn:a" a="4" z="3" q:x="2" p:x="1"></a>',
    ],
    ['unused namespaces', '<a xmlns="urn:a" xmlns:unused="urn:u"><b/></a>', '<a xmlns="urn:a"><b></b></a>'],
    [
      'namespaces where they are used',
      '<a xmlns:p="urn:p"><p:b/><p:c/></a>',
      '<a><p:b xmlns:p="urn:p"></p:b><p:c xmlns:p="urn:p"></p:c></a>',
    ],
    ['no default namespace', '<a xmlns="urn:a"><b xmlns=""/></a>', '<a xmlns="urn:a"><b xmlns=""></b></a>'],
    [
      'escapes',
      '<a b="&lt;&quot;&#9;&#10;&#13;>\'">&lt;&gt;&amp;"&#13;</a>',
      '<a b="&lt;&quot;&#x9;&#xA;&#xD;>\'">&lt;&gt;&amp;"&#xD;</a>',
    ],
    ['line ends', '<a b="1\r\n2">3\r4\r\n5</a>', '<a b="1 2">3\n4\n5</a>'],
    ['the XML declaration', '<?xml version="1.0" encoding="UTF-8"?>\n<a/>', '<a></a>'],
    ['characters beyond the BMP', '<a>&#x1F600;\u{1F601}</a>', '<a>\u{1F600}\u{1F601}</a>'],
  ])('%s', (_, source, expected) => {
    expect(canonical(read(source))).toBe(expected);
    // The canonical form is a fixed point: reading it again gives the same.
    expect(canonical(read(expected))).toBe(expected);
  });

  test('a part of a document keeps the namespaces that it uses, and those of the prefix list', () => {
    const root = read('<a xmlns="urn:a" xmlns:p="urn:p" xmlns:x="urn:x"><p:b>c</p:b></a>');
    const [part] = root.children;
    if (part === undefined || typeof part === 'string') throw new Error('no element');
    expect(canonical(part)).toBe('<p:b xmlns:p="urn:p">c</p:b>');
    expect(canonical(part, { inclusive: ['', 'x'] })).toBe(
      '<p:b xmlns="urn:a" xmlns:p="urn:p" xmlns:x="urn:x">c</p:b>',
    );
  });

  test('a namespace that is written again at each element makes no longer output than a document may have', () => {
    const repeated = (ns: string) => read(`<a xmlns:p="${ns}">${'<p:b/>'.repeat(1000)}</a>`);
    expect(canonical(repeated('urn:p'))).toContain('<p:b xmlns:p="urn:p"></p:b>');
    expect(reasonOf(() => canonical(repeated('p'.repeat(1000))))).toBe('too-large');
    expect(canonical(repeated('p'.repeat(1000)), { isOwn: true }).length).toBeGreaterThan(1_000_000);
  });
});
