import { Box } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './facts.module.css';

interface FactsProps {
  /** Labels and values; empty entries are left out. */
  facts: readonly (readonly [label: ReactNode, value: ReactNode] | false | '' | null | undefined)[];
  /** CSS width of the labels; absent: cells with the label above the value. */
  labelWidth?: string;
}

/** Labelled values. */
export function Facts({ facts, labelWidth }: FactsProps) {
  return (
    <Box component="dl" className={styles.facts} mod={{ cells: !labelWidth }} __vars={{ '--label': labelWidth }}>
      {facts.map(
        (fact, index) =>
          fact && (
            <div key={index}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </Box>
  );
}
