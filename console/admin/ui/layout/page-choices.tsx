import { NativeSelect, SegmentedControl } from '@mantine/core';
import { t } from '../../language/language.ts';
import { optionsOf } from '../forms/options.ts';
import type { Theme } from './page-frame.tsx';

interface ChoiceProps<Value extends string> {
  label: string;
  /** Label per value. */
  options: Readonly<Record<NoInfer<Value>, string>>;
  value: Value;
  onChange(value: NoInfer<Value>): void;
}

/** Segmented control. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  return (
    <SegmentedControl
      aria-label={props.label}
      size="xs"
      data={optionsOf(props.options)}
      value={props.value}
      onChange={(value) => props.onChange(value as Value)}
    />
  );
}

/** Dropdown. */
export function Select<Value extends string>(props: ChoiceProps<Value>) {
  return (
    <NativeSelect
      aria-label={props.label}
      data={optionsOf(props.options)}
      value={props.value}
      onChange={(event) => props.onChange(event.currentTarget.value as Value)}
    />
  );
}

const themes: Record<Theme, string> = { light: t('Light'), dark: t('Dark') };

export function ThemeChoice({ value, onChange }: { value: Theme; onChange(value: Theme): void }) {
  return <Choice label={t('Theme')} options={themes} value={value} onChange={onChange} />;
}

const looks = { draft: t('Draft'), published: t('Published') } as const;
/** Published or draft branding. */
export type Look = keyof typeof looks;

export function LookChoice({ value, onChange }: { value: Look; onChange(value: Look): void }) {
  return <Choice label={t('Version')} options={looks} value={value} onChange={onChange} />;
}
