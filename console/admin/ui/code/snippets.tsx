import { Tabs } from '@mantine/core';
import { t } from '../../language/language.ts';
import { Code } from './code.tsx';

export interface Snippet {
  label: string;
  /** Values of this application are between ‹ and › and are highlighted. */
  code: string;
}

/** One snippet in several languages. The ids of tabs are made of their values, and contain no spaces. */
export function Snippets({ snippets }: { snippets: readonly Snippet[] }) {
  return (
    <Tabs
      defaultValue="0"
      variant="pills"
      color="var(--accent-tint)"
      __vars={{ '--tabs-text-color': 'var(--accent-text)' }}
    >
      <Tabs.List aria-label={t('Language')} mb="sm">
        {snippets.map(({ label }, index) => (
          <Tabs.Tab key={label} value={String(index)}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ label, code }, index) => (
        <Tabs.Panel key={label} value={String(index)}>
          <Code code={code} label={label} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
