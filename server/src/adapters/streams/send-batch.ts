import type { SendBatch } from '../../domain/streams/batch.ts';
import { post } from '../http/outbound.ts';
import { appendLines } from './stream-file.ts';
import { sendSyslog } from './syslog-socket.ts';

/** At most the claim of a stream less its slack (`domain/streams/stream-channel.ts`). */
const timeoutMs = 10_000;

/** Sends batches of log streams. @param folder of files; absent: none are written */
export function sendBatches({
  allowPrivate,
  folder,
}: {
  allowPrivate: boolean;
  folder?: string | undefined;
}): SendBatch {
  return async (batch) => {
    if (batch.kind === 'file') {
      return folder === undefined
        ? { error: 'LOG_STREAM_DIR is not set' }
        : appendLines(folder, batch.name, batch.body);
    }
    if (batch.kind === 'syslog') return sendSyslog(batch.receiver, batch.body, { allowPrivate, timeoutMs });
    const { body, contentType, headers, url } = batch;
    const answer = await post(url, body, contentType, { allowPrivate, timeoutMs, headers });
    if ('error' in answer) return answer;
    return answer.status >= 200 && answer.status < 300 ? { accepted: true } : { error: `status ${answer.status}` };
  };
}
