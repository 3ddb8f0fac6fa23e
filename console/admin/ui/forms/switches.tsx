import { Switch } from '@mantine/core';
import type { SettingsForm } from './settings-form.ts';

/** A section of `generated/switches.ts`. */
export type Switches<Name extends string> = Readonly<Record<Name, { label: string; help: string }>>;

export const namesOf = <Name extends string>(switches: Switches<Name>) => Object.keys(switches) as Name[];

export function labelsOf<Name extends string>(switches: Switches<Name>): Record<Name, string> {
  return Object.fromEntries(namesOf(switches).map((name) => [name, switches[name].label])) as Record<Name, string>;
}

interface SwitchListProps<Name extends string, Values extends Record<Name, boolean>> {
  of: Switches<Name>;
  form: SettingsForm<Values>;
}

/** The switches of a section. */
export function SwitchList<Name extends string, Values extends Record<Name, boolean>>({
  of,
  form,
}: SwitchListProps<Name, Values>) {
  return namesOf(of).map((name) => (
    <Switch key={name} label={of[name].label} description={of[name].help} {...form.toggle(name)} />
  ));
}
