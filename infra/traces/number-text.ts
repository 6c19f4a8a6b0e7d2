const zero = 0x30
const nine = 0x39
const safeDigits = 15
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** The number a cell writes out in decimal; NaN when it writes none. It may be infinite: `1e999` is too. */
export const numberText = (text: string): number => {
  if (text.length > 0 && text.length <= safeDigits) {
    let value = 0
    let i = 0
    for (; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < zero || unit > nine) break
      value = value * 10 + (unit - zero)
    }
    if (i === text.length) return value
  }
  const trimmed = text.trim()
  return decimal.test(trimmed) ? Number(trimmed) : NaN
}
