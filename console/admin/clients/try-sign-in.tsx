import { Button } from '@mantine/core';
import { useState } from 'react';
import { useWrite } from '../api.ts';
import type { Failure } from '../failure.ts';
import { BeginTrial } from '../generated/operations.ts';
import { Refused } from '../ui/failed.tsx';
import { Icon } from '../ui/icon.tsx';

/** Signs in with this very application on the hosted page, in a tab of its own, where the tokens are shown afterwards. */
export function TrySignIn({ clientId }: { clientId: string }) {
  const [begin, busy] = useWrite(BeginTrial);
  const [failure, setFailure] = useState<Failure>();
  const go = async () => {
    // Opened by the click itself: what comes after the answer would be taken for a popup.
    const tab = window.open('about:blank', '_blank');
    const outcome = await begin({ clientId });
    setFailure(outcome.failure);
    if (!outcome.data) return tab?.close();
    const { address } = outcome.data.beginTrial;
    if (!tab) return location.assign(address);
    tab.opener = null;
    tab.location.replace(address);
  };
  return (
    <>
      <Button leftSection={<Icon name="external" size={16} />} loading={busy} onClick={() => void go()}>
        Try sign-in
      </Button>
      <Refused failure={failure} />
    </>
  );
}
