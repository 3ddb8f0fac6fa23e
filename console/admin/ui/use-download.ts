import { useCallback, useState } from 'react';
import { useClient } from 'urql';
import { type Failure, failureOf } from '../failure.ts';
import { Session } from '../generated/operations.ts';
import { signInAgain } from '../sign-in-again.ts';

/** Downloads a file of the admin API, streamed to disk. Personal data requires a recent sign-in, prompted first. */
export function useDownload(): {
  download(address: string): Promise<boolean>;
  busy: boolean;
  failure: Failure | undefined;
} {
  const urql = useClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const download = useCallback(
    async (address: string): Promise<boolean> => {
      setBusy(true);
      setFailure(undefined);
      try {
        for (;;) {
          const { data, error } = await urql.query(Session, {}, { requestPolicy: 'network-only' }).toPromise();
          const found = error && failureOf(error);
          const isExpired = found?.code === 'unauthenticated';
          if (found && !isExpired) {
            setFailure(found);
            return false;
          }
          const until = data?.me.freshUntil;
          // One minute of margin: the download starts after this response.
          const isFresh = until == null || new Date(until).getTime() > Date.now() + 60_000;
          if (data && isFresh) break;
          if (!(await signInAgain(isExpired ? 'expired' : 'fresh'))) {
            setFailure({ code: 'forbidden', message: 'Nothing was exported: this needs you to sign in again first.' });
            return false;
          }
        }
        const link = document.createElement('a');
        link.href = address;
        link.download = '';
        document.body.append(link);
        link.click();
        link.remove();
        return true;
      } finally {
        setBusy(false);
      }
    },
    [urql],
  );
  return { download, busy, failure };
}
