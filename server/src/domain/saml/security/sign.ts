import { createHash } from 'node:crypto';
import { envelopedSignature, ns } from '../names.ts';
import { canonical } from '../xml/canonical.ts';
import { attribute, type Element } from '../xml/element.ts';
import { read } from '../xml/reader.ts';
import { type Markup, markup, raw } from '../xml/write.ts';
import { ownDigest, ownSignature } from './algorithms.ts';

/** Our signing key: RSA with SHA-256, and its certificate (DER). */
export interface SigningKey {
  sign(input: Uint8Array): Promise<Uint8Array>;
  certificate: Uint8Array;
}

/**
 * The element with an enveloped signature after its `Issuer`, where the schemas of SAML expect it.
 *
 * @param message its first child is the `Issuer`
 */
export async function signed(message: Markup, key: SigningKey): Promise<Markup> {
  const element = read(message.xml, { isOwn: true });
  const digest = createHash('sha256')
    .update(canonical(element, { isOwn: true }))
    .digest('base64');
  const info = markup`<ds:SignedInfo xmlns:ds="${ns.signature}"><ds:CanonicalizationMethod Algorithm="${ns.exclusive}"/><ds:SignatureMethod Algorithm="${ownSignature}"/><ds:Reference URI="#${attribute(element, 'ID') ?? ''}"><ds:Transforms><ds:Transform Algorithm="${envelopedSignature}"/><ds:Transform Algorithm="${ns.exclusive}"/></ds:Transforms><ds:DigestMethod Algorithm="${ownDigest}"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
  const value = await key.sign(Buffer.from(canonical(read(info.xml))));
  const signature = markup`<ds:Signature xmlns:ds="${ns.signature}">${info}<ds:SignatureValue>${encoded(value)}</ds:SignatureValue>${keyInfo(key.certificate)}</ds:Signature>`;
  const issuerEnd = endOfFirstChild(message.xml, element);
  return raw(message.xml.slice(0, issuerEnd) + signature.xml + message.xml.slice(issuerEnd));
}

export function keyInfo(certificate: Uint8Array): Markup {
  return markup`<ds:KeyInfo xmlns:ds="${ns.signature}"><ds:X509Data><ds:X509Certificate>${encoded(certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
}

function encoded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** Our own messages begin with `Issuer`, which has no child elements. */
function endOfFirstChild(xml: string, { children: [first] }: Element): number {
  if (first === undefined || typeof first === 'string' || first.name !== 'Issuer') throw new Error('no Issuer');
  const tag = `</${first.prefix}:Issuer>`;
  return xml.indexOf(tag) + tag.length;
}
