import type { Fault } from '../../domain/delivery/diagnosis.ts';
import { SendError } from '../../domain/delivery/sender.ts';
import type { SmtpError } from './smtp-session.ts';

export function connectFault(code: string): Fault {
  if (code === 'ECONNREFUSED') return 'refused';
  return code === 'ETIMEDOUT' ? 'silent' : 'unreachable';
}

/** The TLS fault; undefined for other errors. */
function tlsFault(text: string): Fault | undefined {
  if (/SELF_SIGNED|UNABLE_TO|self-signed|unable to (get|verify)/i.test(text)) return 'certificate-untrusted';
  if (/ALTNAME|does not match certificate/i.test(text)) return 'certificate-name';
  if (/CERT_HAS_EXPIRED|certificate has expired/i.test(text)) return 'certificate-expired';
  if (/WRONG_VERSION_NUMBER|wrong version number|packet length too long/i.test(text)) return 'plain-port';
  return /ETLS|SSL|TLS/.test(text) ? 'tls-failed' : undefined;
}

const textOf = ({ code = '', message, cause }: SmtpError): string =>
  `${code} ${message} ${(cause as { code?: string } | undefined)?.code ?? ''}`;

export function greetingFault(error: SmtpError, isTlsFirst: boolean): { isTls: boolean; fault: Fault } {
  const text = textOf(error);
  const fault = tlsFault(text);
  if (fault) return { isTls: true, fault };
  if (error.responseCode !== undefined && error.responseCode >= 400) {
    return { isTls: false, fault: error.responseCode < 500 ? 'busy' : 'closed' };
  }
  const isSilent = /ETIMEDOUT|Greeting never|timeout/i.test(text);
  if (isTlsFirst) return { isTls: true, fault: isSilent ? 'plain-port' : 'tls-failed' };
  return { isTls: false, fault: isSilent ? 'no-greeting' : 'closed' };
}

export function sendFault({ code, command = '', responseCode = 0 }: SmtpError): Fault {
  if (responseCode === 530 || code === 'EAUTH') return 'no-credentials';
  if (responseCode >= 400 && responseCode < 500) return 'busy';
  if (command.startsWith('MAIL')) return 'sender-rejected';
  if (command.startsWith('RCPT')) return 'recipient-rejected';
  return responseCode >= 500 ? 'message-rejected' : 'closed';
}

/** Faults of an attempt to send a mail, in words for operators. */
const words: Partial<Record<Fault, string>> = {
  'name-unknown': 'its name cannot be resolved',
  refused: 'it refused the connection',
  unreachable: 'it cannot be reached',
  silent: 'it did not answer',
  closed: 'it closed the connection',
  busy: 'it asks to try again later',
  'plain-port': 'it does not answer with TLS',
  'certificate-untrusted': 'its certificate is not from a trusted authority',
  'certificate-name': 'its certificate is for another host name',
  'certificate-expired': 'its certificate has expired',
  'tls-failed': 'TLS failed',
  'credentials-rejected': 'it rejected user name or password',
  'no-credentials': 'it requires user name and password',
  'sender-rejected': 'it rejected the sender',
  'recipient-rejected': 'it rejected the recipient',
  'message-rejected': 'it rejected the message',
};

/** Without a response: the address cannot be that of a recipient. */
const unsendable = 'EENVELOPE';

/** Translates a failed attempt. The server's response may repeat the address or the text, so only its codes are kept. */
export function sendErrorOf(error: SmtpError): SendError {
  const { code, command, responseCode } = error;
  const reason = attemptFault(error);
  const codes = [code, command, responseCode].filter(Boolean).join(' ');
  const isPermanent = responseCode === undefined ? code === unsendable : responseCode >= 500 && code !== 'EAUTH';
  const text = `mail server: ${words[reason] ?? 'failed'}${codes && ` (${codes})`}`;
  return new SendError(text, isPermanent, { cause: error, reason });
}

function attemptFault(error: SmtpError): Fault {
  const { code = '', command = '', responseCode } = error;
  const text = textOf(error);
  if (code === 'EAUTH') return 'credentials-rejected';
  if (responseCode !== undefined) return sendFault(error);
  if (code === unsendable) return 'recipient-rejected';
  const fault = tlsFault(text);
  if (fault) return fault;
  if (/ENOTFOUND|EDNS|EAI_/.test(text)) return 'name-unknown';
  if (/ECONNREFUSED/.test(text)) return 'refused';
  if (/ETIMEDOUT|timeout|Greeting never/i.test(text)) return 'silent';
  if (/E(HOST|NET)UNREACH|ENETDOWN/.test(text)) return 'unreachable';
  return command === 'CONN' && code === 'ESOCKET' ? 'unreachable' : 'closed';
}
