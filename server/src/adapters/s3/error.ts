import { OperatorError } from '../../domain/kernel/problem.ts';

/** A failed operation on S3-compatible storage. The message is one line without secrets. */
export class S3Error extends OperatorError {
  override readonly name = 'S3Error';

  /**
   * @param reason error code of the storage, or of the system if there was no response
   * @param isTransient another attempt may succeed
   */
  constructor(
    message: string,
    readonly reason: string,
    readonly isTransient: boolean,
  ) {
    super(message);
  }
}

/** An operation, as permissions name it (`PutObject`), on a place (`s3://bucket/key`) at a host. */
export interface S3Operation {
  action: string;
  place: string;
  bucket: string;
  host: string;
}

const refusedCredentials = [
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'InvalidTokenId',
  'ExpiredToken',
];
const otherRegion = ['AuthorizationHeaderMalformed', 'PermanentRedirect', 'TemporaryRedirect', 'InvalidRegion'];
const transientCodes = [
  'InternalError',
  'SlowDown',
  'ServiceUnavailable',
  'RequestTimeout',
  'OperationAborted',
  'BadDigest',
];

/** @param code error code of the response; empty: none */
export function refusalOf({ action, place, bucket, host }: S3Operation, status: number, code: string): S3Error {
  const isTransient = status >= 500 || status === 429 || status === 408 || transientCodes.includes(code);
  const error = (message: string) => new S3Error(message, code, isTransient);
  if (code === 'NoSuchBucket') return error(`The bucket ${bucket} does not exist at ${host}.`);
  if (code === 'NoSuchKey') return error(`${place} does not exist.`);
  if (refusedCredentials.includes(code) || status === 401)
    return error(
      `${host} refused the credentials (${code || status}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  if (code === 'RequestTimeTooSkewed') return error(`${host} refused the request: the clock of this machine is wrong.`);
  if (otherRegion.includes(code) || (status >= 300 && status < 400))
    return error(
      `The bucket ${bucket} is not in this region of ${host}: check BACKUP_S3_REGION and BACKUP_S3_ENDPOINT.`,
    );
  if (status === 403) return error(`${host} denied s3:${action} on ${place}: allow it for this access key.`);
  return error(`${host} responded with ${[status, code].filter(Boolean).join(' ')} to s3:${action} on ${place}.`);
}

/** @param cause error of the connection */
export function outageOf({ host }: S3Operation, cause: Error & { code?: string }): S3Error {
  const reason = cause.name === 'TimeoutError' ? 'no answer in time' : (cause.code ?? cause.message);
  return new S3Error(`${host} cannot be reached (${reason}).`, reason, true);
}
