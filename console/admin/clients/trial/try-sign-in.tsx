import { Button } from '@mantine/core';
import { useMutation } from '../../api.ts';
import { BeginTrial } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { FormError } from '../../ui/feedback/errors.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Starts a test sign-in with this application on the hosted page in a new tab, which then shows the tokens. */
export function TrySignIn({ clientId }: { clientId: string }) {
  const [begin, busy, failure] = useMutation(BeginTrial, []);
  const go = async () => {
    // Open the tab within the click, or the popup blocker stops it.
    const tab = window.open('about:blank', '_blank');
    const outcome = await begin({ clientId });
    if (!outcome.data) return tab?.close();
    const { address } = outcome.data.beginTrial;
    if (!tab) return location.assign(address);
    tab.opener = null;
    tab.location.replace(address);
  };
  return (
    <>
      <Button leftSection={<Icon name="external" size={16} />} loading={busy} onClick={() => void go()}>
        {t('Test sign-in')}
      </Button>
      <FormError failure={failure} />
    </>
  );
}
