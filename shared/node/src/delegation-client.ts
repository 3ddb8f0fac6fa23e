import { type DelegationClientOptions, optionsFrom, readKeys, variables } from './delegation-config.ts';
import { type EnvelopeKeys, type Opened, open, type Sealed, seal } from './delegation-envelope.ts';
import { DelegationError, type DelegationErrorCode } from './error.ts';
import { type Answer, type Outgoing, OutgoingError, objectIn, retryAfterOf, send } from './outgoing.ts';
import { printable } from './verify-jwt.ts';

/** The second factors that there are. */
export const MfaMethod = { EMAIL: 'email', SMS: 'sms', TOTP: 'totp' } as const;
export type MfaMethod = (typeof MfaMethod)[keyof typeof MfaMethod];

export interface InitiateMfaChangeOptions {
  /** The user's email or id. */
  userid: string;
  mfaMethod: MfaMethod;
  /** E.164, such as `+12025550143`; required for SMS. */
  phoneNumber?: string;
}

/** Why the service refused; with the status `failed` only. */
export interface Failure {
  /** Stable, such as `USER_NOT_FOUND`, `CODE_REJECTED`, `PHONE_LOCKED_BY_PROVISIONING`, `RATE_LIMITED`. */
  code?: string;
  /** Seconds until it makes sense to try again. */
  retry_after?: number;
}

export interface MfaChangeResult extends Failure {
  /** Names the change to `verifyMfaChange`; empty where it was refused. */
  session_id: string;
  /** `success`: the challenge is on its way to the new factor. `failed`: nothing was begun. */
  status: string;
  message?: string;
  /** Where the code went, masked. */
  sent_to?: string;
  /** For TOTP: what the user's authenticator app needs. Show it to this user only, and keep it nowhere. */
  totp?: { secret: string; otpauth_uri: string };
  /** Seconds until `session_id` expires. */
  expires_in?: number;
  /** The code itself, in test mode only. */
  otp?: string;
}

export interface VerifyMfaChangeOptions {
  /** The user's email or id. */
  userid: string;
  /** `session_id` of {@link MfaChangeResult}. */
  sessionId: string;
  /** The six digits that the new factor shows. */
  otp: string;
}

export interface VerifyMfaChangeResult extends Failure {
  /** `success`: the new factor has taken the old one's place. `failed`: the old one stays. */
  status: 'success' | 'failed';
  message?: string;
  mfa_method?: string;
  /** Codes that stand in for a lost factor, where the user had none yet: show them once, and keep them nowhere. */
  recovery_codes?: string[];
}

export interface UserCredentials extends Failure {
  /** `email`, `sms` or `totp`; `none` where the user has no second factor. */
  mfa_method: string;
  /** `success` or `failed`. */
  status: string;
  message?: string;
}

const defaultTimeoutMs = 10_000;
const maxRequestBytes = 64 * 1024;
const maxAnswerBytes = 128 * 1024;

/**
 * Changes users' second factors on your own pages. Requests are signed and encrypted with keys of this client, and an
 * answer counts only if it is signed by the service and bound to its request. What the service refuses comes back as
 * the status `failed`; what could not be asked or trusted is thrown as {@link DelegationError}.
 */
export class DelegationClient {
  private readonly options: DelegationClientOptions;
  private readonly keys: EnvelopeKeys;
  private readonly url: string;
  private audience: Promise<string> | undefined;

  private constructor(options: DelegationClientOptions, keys: EnvelopeKeys) {
    this.options = options;
    this.keys = keys;
    this.url = `${options.baseUrl.replace(/\/+$/, '')}/v1/delegation`;
    if (options.projectId !== undefined) {
      this.audience = Promise.resolve(`${options.baseUrl.replace(/\/+$/, '')}/${options.projectId}`);
    }
  }

  /** Throws {@link DelegationError} `INVALID_CONFIGURATION`, which names every fault. */
  static fromKeys(options: DelegationClientOptions): DelegationClient {
    return new DelegationClient(
      { ...options },
      readKeys(options, (name) => name),
    );
  }

  /**
   * From `LATCHKEY_API_KEY`, `LATCHKEY_BASE_URL`, `LATCHKEY_SP_ID`, `SP_ED25519_PRIVATE_KEY_PEM`,
   * `SP_X25519_PRIVATE_KEY_PEM`, `IDP_ED25519_PUBLIC_KEY_PEM` and `IDP_X25519_PUBLIC_KEY_PEM` (PEM, or the path of
   * one). Throws {@link DelegationError} `INVALID_CONFIGURATION`, which names every one that is missing or wrong.
   */
  static fromEnv(env: Record<string, string | undefined> = process.env): DelegationClient {
    const options = optionsFrom(env);
    return new DelegationClient(
      options,
      readKeys(options, (name) => variables[name]),
    );
  }

  /** Begins to change the user's second factor: challenges the new one. The old one stays until that is verified. */
  async initiateMfaChange(options: InitiateMfaChangeOptions): Promise<MfaChangeResult> {
    const { mfaMethod, phoneNumber, userid } = options;
    needText({ userid });
    if (!Object.values(MfaMethod).includes(mfaMethod))
      invalid(`mfaMethod is not one of ${Object.values(MfaMethod).join(', ')}.`);
    if (mfaMethod === 'sms') needText({ phoneNumber });
    const body = { userid, mfa_method: mfaMethod, ...(mfaMethod === 'sms' ? { phone_number: phoneNumber } : {}) };
    const answer = await this.ask('initiateMfaChange', body);
    return { session_id: '', ...answer } as MfaChangeResult;
  }

  /** Completes the change with the code that the user received on the new factor. */
  async verifyMfaChange(options: VerifyMfaChangeOptions): Promise<VerifyMfaChangeResult> {
    const { otp, sessionId, userid } = options;
    needText({ userid, sessionId, otp });
    return (await this.ask('verifyMfaChange', { userid, session_id: sessionId, otp })) as VerifyMfaChangeResult;
  }

  /** The user's second factor. @param userid the user's email or id */
  async getUserCredentials(userid: string): Promise<UserCredentials> {
    needText({ userid });
    const answer = await this.ask('getUserCredentials', { userid });
    return { mfa_method: 'none', ...answer } as UserCredentials;
  }

  private async ask(op: string, body: object): Promise<object> {
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
      throw new DelegationError('RESPONSE_INVALID', `The service answered with ${printable(type ?? 'nothing')}.`);
    }
    return answer.body;
  }

  /** `issuer/project_id`, which names the service to this client's messages. */
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
      throw new DelegationError('RESPONSE_INVALID', 'The service did not say which project this client is of.');
    }
    if (clientId !== this.options.spId) {
      throw new DelegationError('INVALID_CONFIGURATION', 'apiKey belongs to another client than spId.', {
        faults: ['apiKey belongs to another client than spId'],
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
      });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      throw new DelegationError(outgoingCodes[error.fault], `The service was not reached: ${error.message}`, {
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

/** Refusals that say that the asking itself went wrong; all others are results. */
const thrownCodes: Record<string, DelegationErrorCode> = {
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

/** The result of an answer that can be trusted. */
function resultOf({ body, status }: Opened): object {
  if (status < 400) return { ...body, status: 'success' };
  const error = detailOf(body);
  const thrown = thrownCodes[error.code] ?? (status >= 500 ? 'SERVER_ERROR' : undefined);
  if (thrown) throw new DelegationError(thrown, `The service refused: ${printable(error.message)}`, error);
  const retryAfter = error.retryAfter === undefined ? {} : { retry_after: error.retryAfter };
  return { status: 'failed', message: error.message, code: error.code, ...retryAfter };
}

/** The error of an answer that came in the clear: nobody signed it, so it is a hint and no result. */
function refusal(answer: Answer): DelegationError {
  const { status } = answer;
  const error = detailOf(objectIn(answer.body) ?? {});
  const code = thrownCodes[error.code] ?? (status >= 500 ? 'SERVER_ERROR' : 'RESPONSE_INVALID');
  return new DelegationError(code, `The service answered with status ${status}.`, {
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
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : '',
    requestId: typeof requestId === 'string' ? printable(requestId) : undefined,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : undefined,
  };
}

function needText(values: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== 'string' || value === '') invalid(`${name} is missing.`);
  }
}

function invalid(what: string): never {
  throw new DelegationError('INVALID_INPUT', what);
}
