import { Button } from '@mantine/core';
import { useMutation } from '../api.ts';
import { TestConnection } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { FormError } from '../ui/feedback/errors.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Connection } from './connection-part.ts';
import { isComplete } from './settings/settings-values.ts';

/** Starts a test sign-in in a new tab. @param isFirst the main action of its section */
export function TestConnectionButton({ connection, isFirst = false }: { connection: Connection; isFirst?: boolean }) {
  const [test, busy, failure] = useMutation(TestConnection, []);
  const go = async () => {
    // Open the tab within the click, or the popup blocker stops it.
    const tab = window.open('about:blank', '_blank');
    const outcome = await test({ id: connection.id });
    if (!outcome.data) return tab?.close();
    const { url } = outcome.data.testConnection;
    if (!tab) return location.assign(url);
    tab.opener = null;
    tab.location.replace(url);
  };
  return (
    <>
      <div>
        <Button
          variant={isFirst ? 'filled' : 'default'}
          leftSection={<Icon name="external" size={16} />}
          disabled={!isComplete(connection)}
          loading={busy}
          onClick={() => void go()}
        >
          {t('Test sign-in')}
        </Button>
      </div>
      <FormError failure={failure} />
    </>
  );
}
