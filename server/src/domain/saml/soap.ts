import { ns } from './names.ts';
import { SamlError } from './saml-error.ts';
import { type Element, elements } from './xml/element.ts';
import { read } from './xml/reader.ts';
import { type Markup, markup } from './xml/write.ts';

/** A message in a SOAP 1.1 envelope (SAML Bindings section 3.2). */
export function inEnvelope(message: Markup): Markup {
  return markup`<soap:Envelope xmlns:soap="${ns.soap}"><soap:Body>${message}</soap:Body></soap:Envelope>`;
}

/** The only message of an envelope. Throws {@link SamlError} for a fault. */
export function fromEnvelope(source: Uint8Array): Element {
  const envelope = read(source);
  if (envelope.ns !== ns.soap || envelope.name !== 'Envelope')
    throw new SamlError('wrong-message', 'not a SOAP envelope');
  const body = elements(envelope).filter((one) => one.ns === ns.soap && one.name === 'Body');
  const [message, another] = body.length === 1 && body[0] ? elements(body[0]) : [];
  if (!message || another) throw new SamlError('malformed', 'not exactly one message in the envelope');
  if (message.ns === ns.soap) throw new SamlError('wrong-message', `SOAP ${message.name}`);
  return message;
}
