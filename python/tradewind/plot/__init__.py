"""The figures of a study, as Vega-Altair charts."""
