import { Text } from '@mantine/core';
import { providerSteps } from './steps.ts';

interface ProviderStepProps {
  /** Of the API. */
  preset: string;
  step: 'create' | 'after' | 'note' | 'saml';
}

/** One text of the steps at a provider; nothing if it has none. */
export function ProviderStep({ preset, step }: ProviderStepProps) {
  const steps = providerSteps[preset] ?? providerSteps['generic'];
  const text = steps?.[step];
  if (text === undefined) return null;
  return step === 'note' ? <Text c="dimmed">{text}</Text> : <p>{text}</p>;
}
