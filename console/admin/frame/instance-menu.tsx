import { Popover, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { t } from '../language/language.ts';
import { Icon } from '../ui/icon.tsx';
import styles from './frame.module.css';
import { NavigationList, useInstancePlaces } from './navigation.tsx';

/** The logo; opens the pages of the instance. */
export function InstanceMenu() {
  const places = useInstancePlaces();
  const [opened, setOpened] = useState(false);
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={230} shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton
          visibleFrom="md"
          className={styles.logo ?? ''}
          aria-label={t('Latchkey: instance')}
          onClick={() => setOpened(!opened)}
          // The focus moves into the dropdown, which closes itself, only after a moment.
          onKeyDown={({ key }) => {
            if (key === 'Escape') setOpened(false);
          }}
        >
          <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
            <rect width="32" height="32" rx="8" fill="#2f55d4" />
            <path
              fill="none"
              stroke="#fff"
              strokeWidth="2.5"
              strokeLinecap="round"
              strokeLinejoin="round"
              d="M9 11.5a7 7 0 0 1 14 0v9a7 7 0 0 1-14 0zM16 13v6m-2.5-3.5h5"
            />
          </svg>
          <Icon name="down" size={14} />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p="xs" aria-label={t('Instance')}>
        <NavigationList label={t('Instance')} places={places} onGo={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
