"""The law of one AUC estimate, alone and correlated."""
