import { ActionIcon, Modal, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { settings } from '../settings.ts';
import { CopyField } from '../ui/code/copy.tsx';
import { Icon } from '../ui/icon.tsx';
import styles from './help-menu.module.css';

const keys = [
  ['Ctrl K or ⌘ K', 'Search, or go somewhere'],
  ['Tab', 'Next control'],
  ['Esc', 'Close'],
] as const;

/** Links to documentation, and keyboard shortcuts. */
export function HelpMenu() {
  const [opened, setOpened] = useState(false);
  const { issuer } = settings;
  return (
    <>
      <Tooltip label="Help and endpoints">
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          className={styles.button ?? ''}
          onClick={() => setOpened(true)}
          aria-label="Help and endpoints"
        >
          <Icon name="help" />
        </ActionIcon>
      </Tooltip>
      <Modal
        opened={opened}
        onClose={() => setOpened(false)}
        title="Help and endpoints"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <div className={styles.help}>
          <CopyField
            label="Issuer"
            value={issuer}
            hint="Same for all projects. Libraries discover all endpoints from it."
          />
          <CopyField label="Discovery document" value={`${issuer}/.well-known/openid-configuration`} />
          <CopyField label="Signing keys (JWKS)" value={`${issuer}/.well-known/jwks.json`} />
          <CopyField
            label="Admin API (GraphQL)"
            value={`${issuer}/admin/graphql`}
            hint="The console uses this API for everything."
          />
          <div>
            <h3>Keyboard</h3>
            <dl className={styles.keys}>
              {keys.map(([key, action]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{action}</dd>
                </div>
              ))}
            </dl>
          </div>
        </div>
      </Modal>
    </>
  );
}
