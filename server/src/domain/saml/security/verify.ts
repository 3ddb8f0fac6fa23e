import { createHash, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { envelopedSignature, ns } from '../names.ts';
import { SamlError } from '../saml-error.ts';
import { canonical } from '../xml/canonical.ts';
import { attribute, child, children, type Element, elements, required, text } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { type AlgorithmRules, digestHash, keyFault, keyInput, signatureAlgorithm } from './algorithms.ts';

/** The keys of the other side, from its configuration. `KeyInfo` of a message is ignored. */
export interface Verification extends AlgorithmRules {
  keys: readonly KeyObject[];
}

export function isSigned(element: Element): boolean {
  return children(element, ns.signature, 'Signature').length > 0;
}

/**
 * Verifies the enveloped signature of an element, and returns the element parsed from the canonical bytes whose digest was
 * verified. Callers use only this result and no other part of the document, which prevents signature wrapping.
 */
export function verified(element: Element, { keys, ...rules }: Verification): Element {
  const signature = child(element, ns.signature, 'Signature');
  if (!signature) throw new SamlError('unsigned', element.name);
  // Parse the canonical form: the signed bytes.
  const signed = canonical(required(signature, ns.signature, 'SignedInfo'), inclusiveOf(signature));
  const info = read(signed);
  const method = signatureAlgorithm(algorithmOf(info, 'SignatureMethod'), rules);
  if (algorithmOf(info, 'CanonicalizationMethod') !== ns.exclusive) {
    throw new SamlError('algorithm-refused', 'CanonicalizationMethod');
  }
  const reference = required(info, ns.signature, 'Reference');
  const id = attribute(element, 'ID');
  if (id === undefined || id === '' || attribute(reference, 'URI') !== `#${id}`) {
    throw new SamlError('signature-invalid', `the signature does not refer to ${element.name}`);
  }
  const content = canonical(element, { without: signature, inclusive: transformed(reference) });
  const digest = createHash(digestHash(algorithmOf(reference, 'DigestMethod'), rules))
    .update(content)
    .digest();
  const isWhole = same(digest, base64(text(required(reference, ns.signature, 'DigestValue'))));
  const value = base64(text(required(signature, ns.signature, 'SignatureValue')));
  const isOurs = keys.some(
    (key) =>
      key.asymmetricKeyType === method.key &&
      keyFault(key) === null &&
      verify(method.hash, Buffer.from(signed), keyInput(key), value),
  );
  if (!isOurs || !isWhole) throw new SamlError('signature-invalid', element.name);
  return read(content);
}

/** The prefixes of `InclusiveNamespaces` of the `SignedInfo`; the list is a part of it, so the signature covers it. */
function inclusiveOf(signature: Element) {
  const method = required(required(signature, ns.signature, 'SignedInfo'), ns.signature, 'CanonicalizationMethod');
  return { inclusive: prefixList(method) };
}

/** Exactly the enveloped signature and exclusive canonicalization, in this order. Returns the inclusive prefixes. */
function transformed(reference: Element): readonly string[] {
  const transforms = elements(required(reference, ns.signature, 'Transforms'));
  const [enveloped, exclusive] = transforms;
  const areAllowed =
    transforms.length === 2 &&
    transforms.every((one) => one.ns === ns.signature && one.name === 'Transform') &&
    enveloped !== undefined &&
    attribute(enveloped, 'Algorithm') === envelopedSignature &&
    exclusive !== undefined &&
    attribute(exclusive, 'Algorithm') === ns.exclusive;
  if (!areAllowed || elements(enveloped).length > 0) throw new SamlError('algorithm-refused', 'Transforms');
  return prefixList(exclusive);
}

/** Each one costs time at every element, before the signature is verified. */
const maxPrefixes = 32;

function prefixList(method: Element): readonly string[] {
  const list = child(method, ns.exclusive, 'InclusiveNamespaces');
  if (elements(method).length > (list ? 1 : 0)) throw new SamlError('algorithm-refused', method.name);
  const prefixes = (list && attribute(list, 'PrefixList'))?.split(/\s+/).filter(Boolean) ?? [];
  if (prefixes.length > maxPrefixes) throw new SamlError('too-large', 'PrefixList');
  return prefixes.map((prefix) => (prefix === '#default' ? '' : prefix));
}

function algorithmOf(parent: Element, name: string): string | undefined {
  return attribute(required(parent, ns.signature, name), 'Algorithm');
}

/** Base64 with line breaks, as signatures have it. */
export function base64(value: string): Buffer {
  const compact = value.replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw new SamlError('malformed', 'base64');
  return Buffer.from(compact, 'base64');
}

function same(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
