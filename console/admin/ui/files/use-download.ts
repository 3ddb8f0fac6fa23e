import { useCallback, useState } from 'react';
import { send } from '../../api.ts';
import type { Failure, RequestError } from '../../failure.ts';
import { Session } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { type Reason, signInAgain } from '../../sign-in-again.ts';

/**
 * Downloads a file of the admin API, streamed to disk. Prompts for a sign-in first if the session of this account has ended,
 * or is not recent.
 */
export function useDownload({ needsFresh = true } = {}): {
  download(address: string): Promise<boolean>;
  busy: boolean;
  failure: Failure | undefined;
} {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const download = useCallback(
    async (address: string): Promise<boolean> => {
      setBusy(true);
      setFailure(undefined);
      // Signed in for this download: `freshUntil` may be in the past for the browser, if its clock is ahead.
      let isFresh = !needsFresh;
      try {
        for (;;) {
          const reason = await send(Session, {}).then(
            ({ me: { freshUntil } }) =>
              // One minute of margin: the download starts after this response.
              !isFresh && freshUntil != null && new Date(freshUntil).getTime() <= Date.now() + 60_000
                ? 'fresh'
                : undefined,
            (error: RequestError): Reason => {
              if (error.code === 'unauthenticated') return 'expired';
              throw error;
            },
          );
          if (reason === undefined) break;
          if (!(await signInAgain(reason))) {
            setFailure({ code: 'forbidden', message: t('Nothing was exported. Sign in again first.') });
            return false;
          }
          isFresh ||= reason === 'fresh';
        }
        const link = document.createElement('a');
        link.href = address;
        link.download = '';
        document.body.append(link);
        link.click();
        link.remove();
        return true;
      } catch (error) {
        setFailure(error as RequestError);
        return false;
      } finally {
        setBusy(false);
      }
    },
    [needsFresh],
  );
  return { download, busy, failure };
}
