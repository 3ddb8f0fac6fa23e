import { ActionIcon, Modal, Tooltip } from '@mantine/core';
import { useLayoutEffect, useState } from 'react';
import { t } from '../language/language.ts';
import { Icon } from '../ui/icon.tsx';
import { store, stored } from '../ui/storage.ts';
import { Help } from './help.tsx';
import { isSingleKey } from './keys.ts';

const storageKey = 'lk-single-keys';

/** Endpoints and keyboard shortcuts. @param projectId the current project */
export function HelpMenu({ projectId }: { projectId: string | undefined }) {
  const [opened, setOpened] = useState(false);
  // WCAG 2.1.4: single-key shortcuts can be turned off.
  const [hasSingleKeys, setSingleKeys] = useState(() => stored(storageKey) !== false);
  useLayoutEffect(() => {
    if (!hasSingleKeys) return undefined;
    const open = (event: KeyboardEvent) => {
      if (!isSingleKey(event, '?') || document.querySelector('[role="dialog"]')) return;
      event.preventDefault();
      setOpened(true);
    };
    window.addEventListener('keydown', open);
    return () => window.removeEventListener('keydown', open);
  }, [hasSingleKeys]);
  return (
    <>
      <Tooltip label={t('Help and endpoints')}>
        <ActionIcon
          variant="subtle"
          color="gray"
          c="dimmed"
          size="lg"
          onClick={() => setOpened(true)}
          aria-label={t('Help and endpoints')}
        >
          <Icon name="help" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={() => setOpened(false)} title={t('Help and endpoints')} size="lg">
        <Help
          projectId={projectId}
          hasSingleKeys={hasSingleKeys}
          onSingleKeys={(has) => {
            store(storageKey, has);
            setSingleKeys(has);
          }}
        />
      </Modal>
    </>
  );
}
