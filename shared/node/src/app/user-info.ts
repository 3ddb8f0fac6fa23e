import { RelyingPartyError } from '../error.ts';
import { OutgoingError, objectIn, send } from '../outgoing.ts';

/** Claims of UserInfo (OpenID Connect Core §5.3). */
export interface UserInfo {
  sub: string;
  [claim: string]: unknown;
}

const timeoutMs = 5_000;
const maxBytes = 256 * 1024;

/** Reads UserInfo, and compares its `sub` (OpenID Connect Core §5.3.2). Throws `RelyingPartyError`. */
export async function readUserInfo(
  endpoint: string,
  { accessToken, allowInsecureHttp, sub }: { accessToken: string; sub: string; allowInsecureHttp: boolean },
): Promise<UserInfo> {
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new RelyingPartyError('ACCESS_TOKEN_REJECTED', 'accessToken is missing or malformed.');
  }
  const headers = { Accept: 'application/json', Authorization: `Bearer ${accessToken}` };
  const answer = await send(endpoint, { method: 'GET', headers, timeoutMs, maxBytes, allowInsecureHttp }).catch(
    (cause: unknown) => {
      if (!(cause instanceof OutgoingError)) throw cause;
      throw new RelyingPartyError('USERINFO_UNAVAILABLE', `The request failed: ${cause.message}`, { cause });
    },
  );
  const { status } = answer;
  if (status === 401 || status === 403) {
    throw new RelyingPartyError('ACCESS_TOKEN_REJECTED', `UserInfo responded with status ${status}.`, { status });
  }
  if (status !== 200) {
    throw new RelyingPartyError('USERINFO_UNAVAILABLE', `UserInfo responded with status ${status}.`, { status });
  }
  const claims = objectIn(answer.body);
  if (claims === null || typeof claims['sub'] !== 'string' || claims['sub'] !== sub) {
    throw new RelyingPartyError('USERINFO_INVALID', 'The response is not JSON, or its sub differs.', { status });
  }
  return claims as UserInfo;
}
