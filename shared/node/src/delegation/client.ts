import type {
  DelegationOperation,
  DelegationResults,
  DelegationErrorCode as ServiceErrorCode,
} from '@latchkey/contracts';
import { DelegationError, type DelegationErrorCode } from '../error.ts';
import { type Answer, type Outgoing, OutgoingError, objectIn, retryAfterOf, send } from '../outgoing.ts';
import { printable } from '../verify-jwt.ts';
import { type DelegationClientOptions, optionsFrom, readKeys, variables } from './config.ts';
import { type EnvelopeKeys, type Opened, open, type Sealed, seal } from './envelope.ts';

/** Supported second factors. */
export const MfaMethod = { EMAIL: 'email', SMS: 'sms', TOTP: 'totp' } as const;
export type MfaMethod = (typeof MfaMethod)[keyof typeof MfaMethod];

export interface InitiateMfaChangeOptions {
  /** The user's email address or ID. */
  userid: string;
  mfaMethod: MfaMethod;
  /** E.164, such as `+12025550143`; required for SMS. */
  phoneNumber?: string;
}

/** Reason of the error; only with status `failed`. */
interface Failure {
  /** Stable code, such as `USER_NOT_FOUND`, `CODE_REJECTED`, `PHONE_LOCKED_BY_PROVISIONING`, `RATE_LIMITED`. */
  code?: string;
  /** Seconds to wait before a retry. */
  retry_after?: number;
}

export interface MfaChangeResult extends Failure {
  /** Input of `verifyMfaChange`; empty on failure. */
  session_id: string;
  /** `success`: the challenge was sent to the new factor. `failed`: nothing was started. */
  status: string;
  message?: string;
  /** Masked destination of the code. */
  sent_to?: string;
  /** For TOTP: secret for the user's authenticator app. Show it to this user only, and do not store it. */
  totp?: { secret: string; otpauth_uri: string };
  /** Seconds until `session_id` expires. */
  expires_in?: number;
  /** The one-time code, in test mode only. */
  otp?: string;
}

export interface VerifyMfaChangeOptions {
  /** The user's email address or ID. */
  userid: string;
  /** `session_id` of {@link MfaChangeResult}. */
  sessionId: string;
  /** Six-digit code of the new factor. */
  otp: string;
}

export interface VerifyMfaChangeResult extends Failure {
  /** `success`: the new factor has replaced the old one. `failed`: the old one stays. */
  status: 'success' | 'failed';
  message?: string;
  mfa_method?: string;
  /** Recovery codes, if the user had none: show them once, and do not store them. */
  recovery_codes?: string[];
}

export interface UserCredentials extends Failure {
  /** `email`, `sms` or `totp`; `none` if the user has no second factor, and with the status `failed`: check it first. */
  mfa_method: string;
  /** `success` or `failed`. */
  status: string;
  message?: string;
}

const defaultTimeoutMs = 10_000;
const maxRequestBytes = 64 * 1024;
const maxAnswerBytes = 128 * 1024;

/**
 * Changes users' second factors on your own pages. Requests are signed and encrypted with this client's keys; responses
 * must be signed by the service and bound to the request. Errors of the service return the status `failed`; failed or
 * untrusted requests throw {@link DelegationError}.
 */
export class DelegationClient {
  private readonly options: DelegationClientOptions;
  private readonly keys: EnvelopeKeys;
  private readonly url: string;
  private audience: Promise<string> | undefined;

  private constructor(options: DelegationClientOptions, keys: EnvelopeKeys) {
    this.options = { ...options };
    this.keys = keys;
    this.url = `${options.baseUrl.replace(/\/+$/, '')}/v1/delegation`;
    if (options.projectId !== undefined) {
      this.audience = Promise.resolve(`${options.baseUrl.replace(/\/+$/, '')}/${options.projectId}`);
    }
  }

  /** Throws {@link DelegationError} `INVALID_CONFIGURATION`, which lists every problem. */
  static fromKeys(options: DelegationClientOptions): DelegationClient {
    return new DelegationClient(
      options,
      readKeys(options, (name) => name),
    );
  }

  /**
   * Reads `LATCHKEY_API_KEY`, `LATCHKEY_BASE_URL`, `LATCHKEY_SP_ID`, `SP_ED25519_PRIVATE_KEY_PEM`,
   * `SP_X25519_PRIVATE_KEY_PEM`, `IDP_ED25519_PUBLIC_KEY_PEM` and `IDP_X25519_PUBLIC_KEY_PEM` (PEM, or the path of one),
   * and, if set to `true`, `LATCHKEY_ALLOW_INSECURE_HTTP`.
   * Throws {@link DelegationError} `INVALID_CONFIGURATION`, which lists every missing or invalid variable.
   */
  static fromEnv(env: Record<string, string | undefined> = globalThis.process?.env): DelegationClient {
    const options = optionsFrom(env ?? {});
    return new DelegationClient(
      options,
      readKeys(options, (name) => variables[name]),
    );
  }

  /**
   * Starts a change of the user's second factor: challenges the new one. The old one stays until the new one is
   * verified.
   */
  async initiateMfaChange(options: InitiateMfaChangeOptions): Promise<MfaChangeResult> {
    const { mfaMethod, phoneNumber, userid } = options ?? {};
    needText({ userid });
    if (!Object.values(MfaMethod).includes(mfaMethod))
      invalid(`mfaMethod must be one of ${Object.values(MfaMethod).join(', ')}.`);
    if (mfaMethod === 'sms') needText({ phoneNumber });
    const body = { userid, mfa_method: mfaMethod, ...(mfaMethod === 'sms' ? { phone_number: phoneNumber } : {}) };
    return { session_id: '', ...(await this.#ask('initiateMfaChange', body)) };
  }

  /** Completes the change with the code from the new factor. */
  async verifyMfaChange(options: VerifyMfaChangeOptions): Promise<VerifyMfaChangeResult> {
    const { otp, sessionId, userid } = options ?? {};
    needText({ userid, sessionId, otp });
    return this.#ask('verifyMfaChange', { userid, session_id: sessionId, otp });
  }

  /** The user's second factor. @param userid the user's email address or ID */
  async getUserCredentials(userid: string): Promise<UserCredentials> {
    needText({ userid });
    return { mfa_method: 'none', ...(await this.#ask('getUserCredentials', { userid })) };
  }

  async #ask<Op extends DelegationOperation>(op: Op, body: object): Promise<Result<Op>> {
    const request = await seal(this.keys, { issuer: this.options.spId, audience: await this.ourAudience(), op, body });
    if (request.text.length > maxRequestBytes) {
      throw new DelegationError('REQUEST_TOO_LARGE', 'The request is too large.');
    }
    return resultOf(await open(this.keys, request, await this.post(request)));
  }

  private async post(request: Sealed): Promise<string> {
    const answer = await this.send({
      method: 'POST',
      headers: { 'Content-Type': 'application/jose', Accept: 'application/jose, application/json' },
      body: request.text,
    });
    const type = answer.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
    if (answer.status !== 200) throw refusal(answer);
    if (type !== 'application/jose') {
      throw new DelegationError('RESPONSE_INVALID', `The response has content type ${printable(type ?? 'none')}.`);
    }
    return answer.body;
  }

  /** `issuer/project_id`, the audience of this client's messages. */
  private ourAudience(): Promise<string> {
    this.audience ??= this.discover().catch((error: unknown) => {
      this.audience = undefined;
      throw error;
    });
    return this.audience;
  }

  private async discover(): Promise<string> {
    const answer = await this.send({ method: 'GET', headers: { Accept: 'application/json' } });
    if (answer.status !== 200) throw refusal(answer);
    const { client_id: clientId, issuer, project_id: projectId } = objectIn(answer.body) ?? {};
    if (typeof issuer !== 'string' || typeof projectId !== 'string') {
      throw new DelegationError('RESPONSE_INVALID', 'The response has no project_id.');
    }
    if (clientId !== this.options.spId) {
      throw new DelegationError('INVALID_CONFIGURATION', 'apiKey does not belong to client spId.', {
        faults: ['apiKey does not belong to client spId'],
      });
    }
    return `${issuer}/${projectId}`;
  }

  private async send(
    request: Pick<Outgoing, 'method' | 'body'> & { headers: Record<string, string> },
  ): Promise<Answer> {
    try {
      return await send(this.url, {
        ...request,
        headers: { ...request.headers, 'X-Api-Key': this.options.apiKey },
        timeoutMs: this.options.timeoutMs ?? defaultTimeoutMs,
        maxBytes: maxAnswerBytes,
        allowInsecureHttp: this.options.allowInsecureHttp,
      });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      throw new DelegationError(outgoingCodes[error.fault], `The request to the service failed. ${error.message}`, {
        cause: error,
      });
    }
  }
}

const outgoingCodes = {
  'invalid-url': 'INVALID_CONFIGURATION',
  'insecure-url': 'INSECURE_URL',
  redirected: 'REDIRECTED',
  'too-large': 'RESPONSE_TOO_LARGE',
  timeout: 'TIMEOUT',
  aborted: 'ABORTED',
  network: 'NETWORK',
} as const satisfies Record<OutgoingError['fault'], DelegationErrorCode>;

/** Codes of the service that are thrown; all others become a result with status `failed`. */
const thrownCodes: { [Code in ServiceErrorCode]?: DelegationErrorCode } = {
  INVALID_CLIENT: 'INVALID_CLIENT',
  INVALID_REQUEST: 'INVALID_INPUT',
  NOT_CONFIGURED: 'NOT_CONFIGURED',
  REPLAYED: 'REPLAYED',
  REQUEST_REJECTED: 'REQUEST_REJECTED',
  REQUEST_TOO_LARGE: 'REQUEST_TOO_LARGE',
  SERVER_ERROR: 'SERVER_ERROR',
  STALE: 'STALE',
  TEMPORARILY_UNAVAILABLE: 'TEMPORARILY_UNAVAILABLE',
};

type Failed = Failure & { status: 'failed'; message: string };
type Result<Op extends DelegationOperation> = (DelegationResults[Op] & { status: 'success' }) | Failed;

/** Result of a verified response. */
function resultOf<Op extends DelegationOperation>({ body, status }: Opened): Result<Op> {
  if (status < 400) return { ...(body as unknown as DelegationResults[Op]), status: 'success' };
  const error = detailOf(body);
  const thrown = thrownCodes[error.code] ?? (status >= 500 ? 'SERVER_ERROR' : undefined);
  if (thrown) throw new DelegationError(thrown, `The service rejected the request: ${printable(error.message)}`, error);
  const retryAfter = error.retryAfter === undefined ? {} : { retry_after: error.retryAfter };
  return { status: 'failed', message: error.message, code: error.code, ...retryAfter };
}

/** Error of an unencrypted response: unsigned, so only a hint, never a result. */
function refusal(answer: Answer): DelegationError {
  const { status } = answer;
  const error = detailOf(objectIn(answer.body) ?? {});
  const code = thrownCodes[error.code] ?? (status >= 500 ? 'SERVER_ERROR' : 'RESPONSE_INVALID');
  return new DelegationError(code, `The service responded with status ${status}.`, {
    retryAfter: error.retryAfter ?? retryAfterOf(answer.headers),
    requestId: error.requestId,
  });
}

function detailOf(body: Record<string, unknown>) {
  const error = (typeof body['error'] === 'object' && body['error'] !== null ? body['error'] : {}) as Record<
    string,
    unknown
  >;
  const { code, message, request_id: requestId, retry_after: retryAfter } = error;
  return {
    // A newer service may send a code that this version does not list.
    code: (typeof code === 'string' ? code : '') as ServiceErrorCode,
    message: typeof message === 'string' ? message : '',
    requestId: typeof requestId === 'string' ? printable(requestId) : undefined,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : undefined,
  };
}

function needText(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string' || value === '') invalid(`${name} is required.`);
  }
}

function invalid(problem: string): never {
  throw new DelegationError('INVALID_INPUT', problem);
}
